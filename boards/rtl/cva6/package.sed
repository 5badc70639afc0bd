# Changes to core/include/ariane_pkg.sv: one rule of each kind is all that the configuration in top.sv has,
# and each call of a function carries room for all of them.
s/localparam NrMaxRules = 16;/localparam NrMaxRules = 1;/
