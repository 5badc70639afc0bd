-- Read from the disk by a confined driver, run by Debian's Lua, unchanged.
local primes = {}
for number = 2, 40 do
    local is_prime = true
    for _, prime in ipairs(primes) do is_prime = is_prime and number % prime ~= 0 end
    if is_prime then primes[#primes + 1] = number end
end
print("from the disk:", table.concat(primes, " "), 2 ^ 0.5)
