# SPDX-License-Identifier: BSD-3-Clause
"""errors.py: the two kinds of trouble that plain Python has no name for.

Users' mistakes are ordinary ``ValueError``, ``TypeError`` and ``IndexError``,
and use before ``fit`` is scikit-learn's ``NotFittedError``.
"""


class NoLabelsError(ValueError, AttributeError):
    """Labels were asked for, and the model cannot have any yet.

    Either no cut was chosen, or the tree holds fewer points than clusters were
    asked for. It is an ``AttributeError`` too, so that ``hasattr(model,
    "labels_")`` answers False and notebooks can display such a model.

    Examples
    --------
    >>> import ramify
    >>> hasattr(ramify.OHAC().fit([[0.0], [1.0]]), "labels_")
    False
    """


class BrokenTreeError(RuntimeError):
    """A tree breaks one of its numbered invariants: a bug in Ramify, not in your code.

    Examples
    --------
    >>> import ramify
    >>> ramify.OHAC().fit([[0.0], [1.0]]).check()  # raises BrokenTreeError, or does nothing
    """
