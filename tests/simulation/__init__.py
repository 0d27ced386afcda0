"""One seed, one history: the real code over a simulated disk, clock, network and threads."""
