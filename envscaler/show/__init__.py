"""What people see: records as HTML (`view`), widgets (`inspector`, `playground`, `player`), statistics, pictures.

Nothing here makes or judges a record; the stages do.
"""
