"""Snippets that several patterns begin their templates with: the validations and the plain look-up every world has.

They are jinja macros, so they cost the written code nothing: `<<known(c)>>` becomes the lines that find a record or
refuse. `MACROS` must stand first in a template that uses them. This module is no pattern.
"""

MACROS = '''\
<% macro known(n) %>
    <<n.id>> = self.<<n.ids>>.get(<<n.id>>_id)
    if <<n.id>> is None:
        return {"success": False, "error": f"There is no <<n>> with the id {<<n.id>>_id!r}."}
<%- endmacro %>
<% macro one_of(name, what, values) %>
    if <<name>> is not None and <<name>> not in (<<quoted(values)>>):
        return {"success": False, "error": f"There is no <<what>> {<<name>>!r}."}
<%- endmacro %>
<% macro getter(n, prefix) %>
def get_<<n.id>>(self, <<n.id>>_id: str) -> dict:
    """Show one <<n>>.

    Args:
        <<n.id>>_id: Id of the <<n>>, e.g. <<prefix>>-001.

    Returns:
        The <<n>> with all its details, or an error for an unknown id.
    """
<<known(n)>>
    return {"success": True, "data": dict(<<n.id>>)}
<%- endmacro %>
<% macro done(n, said) %>
    return {
        "success": True,
        "message": f"<<n.cap>> {<<n.id>>['<<n.id>>_id']} <<said>>.",
        "data": dict(<<n.id>>),
    }
<%- endmacro %>
'''

IS_DATE = '''
    @staticmethod
    def _is_date(text: str) -> bool:
        """Tell whether the text is a date as YYYY-MM-DD."""
        try:
            return date.fromisoformat(text).isoformat() == text
        except ValueError:
            return False
'''
