# SPDX-License-Identifier: BSD-3-Clause
"""river: the online trees for river, where a point is a dict and comes alone.

Importing this module needs river; `import ramify` does not.
"""

from ramify.river._hierarchy import OnlineHierarchy

__all__ = ["OnlineHierarchy"]
