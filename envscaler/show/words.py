"""Findings in plain words: what each kind is called in a report, and why it matters to whoever uses the data."""

from collections.abc import Mapping

Words = tuple[str, str]
"""A title, and one or two sentences."""

CHECKS: Mapping[str, Words] = {
    "vacuous": (
        "Checks that hold before anything is done",
        "The agent is paid for them whatever it does. A policy that does nothing looks better than it is, and the "
        "gradient points nowhere.",
    ),
    "always-broken": (
        "Checks that break on every state",
        "They raise, or answer with something that is neither True nor False. The published rule counts them as "
        "failed, so full reward cannot be reached.",
    ),
    "sometimes-broken": (
        "Checks that break on some states",
        "On states an agent can bring about they raise or give no answer, and the published rule silently lowers the "
        "reward.",
    ),
    "only-false": (
        "Checks that can only say no",
        "Every return is False. No run can satisfy them, so the scenario cannot be solved.",
    ),
    "half-characters": (
        "Checks that compare with half a character",
        "An emoji was written as two escapes, which Python does not put together: the text equals nothing that comes "
        "out of JSON, so the check cannot hold.",
    ),
    "contradiction": (
        "Checks that contradict each other",
        "Two checks want different values in one field of one record. Mostly the task goes through several steps and "
        "a check asks for one on the way, which the final state no longer shows.",
    ),
    "blind": ("Checks that never look at the state", "Their answer is the same whatever the agent does."),
    "no-source": ("Checks that cannot be read", "Their code does not parse or has no function."),
    "missing-table": (
        "Checks that read a table that is not there",
        "Neither the initial state nor the class knows the table, so no tool can fill it. Mostly the task asked for "
        "something that only a reply shows, such as a report.",
    ),
    "never-together": (
        "Checks that never held together",
        "Each held in some state that a search met, and in none both. Mostly one asks for what was true on the way, "
        "and the other for what came after.",
    ),
    "missing-field": (
        "Checks that read a field nobody knows",
        "No record has it and the class's code never names it. Unless a tool stores whatever object it is given, the "
        "check cannot hold.",
    ),
    "never-true": (
        "Checks that held in no state tried",
        "A search guided by the checks tried to bring them about and did not. They may still be possible; the message "
        "says how many states were tried.",
    ),
    "absent-record": (
        "Checks that look up a record nobody named",
        "The key is neither in the initial state nor in the task; the check counts on an id that a tool will make.",
    ),
    "reads-initial-state": (
        "Checks that read initial_state",
        "They compare with the beginning. Whoever grades them must supply it as a global, or they break.",
    ),
    "reads-init-config": (
        "Checks that read init_config",
        "They count on a copy of the initial state inside the state, which only some runtimes keep there.",
    ),
    "helpers": (
        "Checks with helper functions",
        "Whoever extracts only check_func out of them breaks them.",
    ),
}
STATES: Mapping[str, Words] = {
    "state-unknown-table": (
        "Initial states with tables the class does not set up",
        "The data lie in the state and no annotation says what they are; some tools may never look at them.",
    ),
    "state-missing-field": (
        "Records without a declared field",
        "A tool that reads the field raises in mid-episode.",
    ),
    "state-unknown-field": (
        "Records with a field nobody declared",
        "The class does not know it; tools may drop it.",
    ),
    "state-wrong-type": ("Values of another type than declared", "Comparisons with them fail, or raise."),
    "state-no-record": ("Entries that are no records", "The class declares records there."),
    "state-clipped": (
        "Descriptions of states with names that lost letters",
        "Letters were stripped off both ends of a list of names. Whoever writes states or checks after the description "
        "names fields that no tool knows.",
    ),
}
SCHEMAS: Mapping[str, Words] = {
    "schema-malformed": (
        "What is declared as a tool's parameters and is no schema",
        "JSON Schema does not know what stands there, so every provider and every runtime makes something else of it. "
        "Here it was left out, and the rest was taken as it is.",
    ),
    "schema-type-list": (
        "A list of types in a tool's schema",
        "Gemini's function declarations know one type a value; the whole request is refused.",
    ),
    "schema-no-type": (
        "A value without a type in a tool's schema",
        "Providers that need types refuse the whole request.",
    ),
    "schema-array-without-items": (
        "An array that does not say what is in it",
        "OpenAI and Gemini refuse the whole request, also where the array lies deep inside.",
    ),
    "schema-long-description": (
        "A tool's description is too long",
        "OpenAI takes 1,024 characters; the whole request is refused.",
    ),
}
ENVIRONMENTS: Mapping[str, Words] = {
    "alias": (
        "Replies that hand out live parts of the state",
        "Whoever keeps the object and changes it changes the database. Only JSON between environment and agent makes "
        "copies.",
    ),
    "not-repeatable": (
        "Results that differ from run to run",
        "The same calls with the same seed gave something else; rewards cannot be compared.",
    ),
    "restore-loses": (
        "State that a snapshot does not see",
        "After a restore the environment behaves differently.",
    ),
    "never-succeeds": (
        "Tools that refused every call",
        "Arguments out of the schema, the state and the tool's own code never led to success. Some tools are that "
        "particular; some cannot succeed at all.",
    ),
    "reply-differs": (
        "Replies that say something else than the database",
        "What the tool tells the agent is not what it did; an agent that believes it goes wrong.",
    ),
    "no-effect": (
        "Writes that write nothing",
        "The tool says that it is done and never changed the state in any call.",
    ),
    "duplicate-id": (
        "Tools that take an id twice",
        "A second record under one id replaces the first, or hides it.",
    ),
    "displaced": (
        "New records in the place of old ones",
        "An id is made that is in use: the record that had it is gone, and nobody asked for that.",
    ),
    "idle-success": (
        "Refusals that are reported as successes",
        "The agent is told that it is done, and nothing was done; with another value the tool does something.",
    ),
    "unknown-accepted": ("Tools that take ids nobody has", "A record then refers to nothing."),
    "dangling": ("References that lead nowhere", "A record is gone and others still name it."),
    "argument-elsewhere": (
        "Arguments written into another field",
        "What the agent says lands where it does not belong.",
    ),
    "argument-scaled": ("Arguments changed by a factor", "What is stored is not what was said."),
    "argument-lost": ("Arguments that leave no trace", "What the agent says is neither stored nor used."),
    "by-chance": ("Replies that depend on chance", "Another seed, another answer to the same question."),
    "by-address": ("Code that depends on addresses in memory", "It gives something else in every process."),
    "hidden-state": (
        "State that is not in the state",
        "What happened before shows in replies and not in the database.",
    ),
    "invariant": ("Rules that are broken", "A call left a state that the environment's own rules forbid."),
    "index-differs": (
        "Indexes that disagree with their tables",
        "One of two places that say the same was not kept up.",
    ),
    "count-differs": ("Counters that disagree with what they count", "One was not kept up with the other."),
    "miscounted": ("Counters that disagree with what they count", "One was not kept up with the other."),
    "field-missing": (
        "Records made without a field that others have",
        "A tool that reads the field raises later.",
    ),
    "new-attribute": ("Tables that appear in mid-episode", "No other code knows them."),
    "type-changed": ("Values that change their type", "Comparisons with them fail from then on."),
    "negative": ("Numbers that became negative", "No value of the field was, before."),
    "listed-twice": ("Values listed twice", "A list that had each value once has one of them twice."),
    "swallowed": (
        "Errors that are swallowed",
        "Something raised inside, and the tool says that all is well.",
    ),
    "not-json": ("Values that JSON cannot hold", "They are lost, or raise, where the state is written."),
    "no-method": ("Declared tools that are not there", "Every call of them fails."),
    "lost": ("Environments that hang or crash", "An episode in them cannot be finished."),
    "raises": (
        "Tools that raise",
        "An exception instead of a reply; the published runtime ends the episode with 0.",
    ),
    "wrong-type-raises": (
        "Tools that raise on a wrong type",
        "One slip of an agent ends the episode in runtimes that do not check arguments.",
    ),
    "read-writes": (
        "Reads that change the state",
        "A tool that is declared a query changes what it looks at.",
    ),
    "refused-writes": ("Refusals that change the state", "The reply says no, the database says otherwise."),
    "int-keys": ("Tables with numbers as keys", "JSON makes them texts, and every look-up fails."),
    "id-compared": (
        "Arguments named after an id and compared with something else",
        "No correct call can succeed: the tool looks for a name where the argument is an id.",
    ),
    "schema": ("Schemas that name arguments the method does not take", "Every call with them raises."),
    "schema-required": (
        "Schemas and methods that disagree on what is required",
        "An agent that keeps to the schema is told it forgot something, or need not have said it.",
    ),
    "schema-type": (
        "Schemas and annotations that disagree on a type",
        "An agent that keeps to the schema is wrong.",
    ),
    "reply-form": ("Replies of another form", "The tool does not say whether it succeeded."),
    "shared-state": ("State outside the object", "No reset undoes it: episodes see each other."),
    "no-load": ("Classes that cannot be loaded", "Nothing can be played in them."),
    "undeclared": (
        "Public methods that are no tools",
        "Runtimes that call any attribute let agents call them.",
    ),
    "read-may-write": ("Reads whose code writes", "Declared a query; some branch changes the state."),
    "builtin": ("Code that wants what a sandbox does not give", "It raises where it is run in isolation."),
    "import": ("Imports that a sandbox does not give", "It raises where it is run in isolation."),
}
KINDS: Mapping[str, Words] = {**CHECKS, **STATES, **SCHEMAS, **ENVIRONMENTS}


def words_of(kind: str) -> Words:
    """Title and explanation of a kind of finding; one that has no words of its own keeps its name."""
    return KINDS.get(kind, (kind.replace("-", " ").capitalize(), ""))
