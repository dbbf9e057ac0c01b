"""Who answers: everything between a prompt file and a validated answer.

    ask · prompt · reply · request    one question, filled in, sent, parsed
    connect · client · cache · scripted   who is asked: a server, a memory of it, a script
    budget · embedding                what it costs; texts as vectors
    builtin                           the stand-in that needs no network (only `connect` knows it)

This wing knows neither the worlds nor the stages.
"""
