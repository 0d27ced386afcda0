"""Tests of Ramify, as a package: they share strategies, oracles and fixtures."""
