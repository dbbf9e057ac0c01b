"""The errors of every boundary, and how to read them.

1. One class a boundary: a caller catches what it can mend and lets the rest fly.
2. Every message is one or two sentences: what was expected, what came, what to do.
3. Work over many records does not raise for one bad record: it becomes a `Failure` row and the rest go on.
4. An agent's slip is not an error at all; it is an observation. See `world.environment`.

This module holds no logic and imports nothing of the project.
"""

from typing import Any


class EnvscalerError(Exception):
    """Base of everything this library raises on purpose."""


# Files and records


class StoreError(EnvscalerError):
    """A file is missing, unreadable or not writable, or none of its rows could be read."""


class ParameterError(EnvscalerError, ValueError):
    """A parameter of a call, a notebook or the command line is not one that is known or allowed."""


# Who answers


class ModelError(EnvscalerError):
    """A model could not be reached, or answered with an error that asking again did not mend."""

    usage: Any = None
    """What it cost all the same, where the server told that: a `schema.Usage`."""


class ReplyError(ModelError):
    """A model answered, but not in the form that was asked for, also when told what was wrong."""


class PromptError(EnvscalerError):
    """A prompt file is missing, malformed, or was given other variables than it names."""


class PartRefused(ModelError):
    """A part that a model wrote stayed unusable, also when told what was wrong; the message locates it."""


class BudgetSpent(Exception):
    """The next call might cost more than is left of the budget; no `EnvscalerError`, for it is no record's fault.

    No stage makes a failure of it: the run ends, what was answered is remembered, and a higher budget goes on.
    """


class CacheMiss(ModelError):
    """The cache is `replay_only` and holds no reply to this request."""


class NothingFits(ModelError):
    """The built-in model has no pattern for what it was asked about, and says so."""


# Where it happens


class SourceError(EnvscalerError):
    """The source of an environment cannot be used; the message has the line."""


class EnvironmentLost(EnvscalerError):
    """An environment crashed or hung too often, or could not be restored; the episode is `failed`, never 0."""


class ResetNeeded(EnvscalerError):
    """`step` was called before `reset`, or after the episode had ended."""


class SandboxError(EnvscalerError):
    """Generated code could not be run in isolation on this machine."""


class CheckError(EnvscalerError):
    """A check function raised, returned something other than a bool, or cannot be graded."""
