"""Random search for trouble, as long as there is time: `make fuzz`. Nothing here is a test."""
