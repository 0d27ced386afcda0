"""Kill -9, full disks and failing syncs: what was acknowledged stays, in the same tree."""
