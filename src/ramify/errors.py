# SPDX-License-Identifier: BSD-3-Clause
"""errors.py: the kinds of trouble that plain Python has no name for.

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


class HistoryError(LookupError):
    """A model was asked about a version of its tree that it does not remember.

    The message names the oldest version that it does. A model remembers as many versions
    as ``history`` says, of those that ``model.version`` has named, and none from before
    ``fit`` began anew or before it was loaded.

    Examples
    --------
    >>> import ramify
    >>> model = ramify.OHAC().fit([[0.0], [1.0]])
    >>> try:
    ...     model.past.changes(since=1)
    ... except ramify.HistoryError as error:
    ...     print(error)
    this OHAC remembers no versions; set history= to how many it should
    """


class UnreadableFileError(ValueError):
    """A file that :func:`ramify.load` will not read; the message says why.

    It is none of ours, cut short, changed since it was written, saved by a later
    version of Ramify, or made by hand so that it holds no valid tree. That a file
    does not exist, or may not be opened, is Python's own ``OSError``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import ramify
    >>> path = pathlib.Path(tempfile.mkdtemp(), "tree.ramify")
    >>> _ = path.write_text("not a tree")
    >>> try:
    ...     ramify.load(path)
    ... except ramify.UnreadableFileError as error:
    ...     print(error.args[0].removeprefix(str(path)))
    : is not a file that Ramify has saved
    """


class TooLargeError(MemoryError):
    """Sparse rows would be made dense that cannot fit the memory; nothing was changed.

    The message says how much it would take and how much there is. Fewer columns are the way
    out: scikit-learn's ``TruncatedSVD`` keeps of sparse rows what tells them apart.

    Examples
    --------
    >>> from scipy import sparse
    >>> import ramify
    >>> X = sparse.csr_array((1_000_000, 2_000_000))
    >>> try:
    ...     ramify.HAC().fit(X)
    ... except ramify.errors.TooLargeError as error:
    ...     print(str(error)[:60])
    1,000,000 sparse rows of 2,000,000 columns take 48,000.0 GB,
    """


class LargeRowsWarning(UserWarning):
    """Sparse rows, made dense, will take more than half of the memory that is free.

    The message says how much. See :class:`TooLargeError`.

    Examples
    --------
    >>> from ramify.errors import LargeRowsWarning
    >>> issubclass(LargeRowsWarning, UserWarning)
    True
    """


class FlatKernelWarning(UserWarning):
    """All points are equally alike to a measure, which then says nothing about a tree.

    Of exp(-gamma ‖x - y‖²) nearly nothing is left, or nearly everything is 1, because
    gamma does not fit the scale of the rows. Leave ``gamma`` out, and it does.

    Examples
    --------
    >>> import warnings
    >>> import ramify
    >>> from ramify import metrics
    >>> X = [[0.0], [100.0], [500.0]]
    >>> tree = ramify.HAC().fit(X).hierarchy()
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     fraction = metrics.revenue_fraction(tree, X, gamma=1.0)
    >>> float(fraction), seen[0].category.__name__
    (1.0, 'FlatKernelWarning')
    """


class DeepTreeWarning(UserWarning):
    """A tree is so deep that inserts and questions take long, and its cuts say little.

    Centroid linkage does this in many dimensions: the mean of a large cluster lies near
    everything, so that points join it one by one. Use ``linkage="ward"`` or
    ``"average"``.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import ramify
    >>> X = np.random.default_rng(0).normal(size=(600, 64))
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     model = ramify.OHAC(linkage="centroid").fit(X)
    >>> [warning.category.__name__ for warning in seen]
    ['DeepTreeWarning']
    """


def explain(error: BaseException, story: str) -> None:
    """Let an error that goes on its way say what it means for the model.

    Examples
    --------
    >>> try:
    ...     raise ValueError("no such row")
    ... except ValueError as error:
    ...     explain(error, "the tree is as it was")
    ...     error.__notes__
    ['the tree is as it was']
    """
    if type(error) is KeyboardInterrupt:  # which has nothing to say of its own
        error.args = (story,)
    else:
        error.add_note(story)
