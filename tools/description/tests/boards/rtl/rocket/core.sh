# A core that can be simulated.
