"""What routes need, by name: which row decides, at which level, and whether a grant may do."""

from typing import Final

from whenthen.domain.rules.permissions import Grants, Level, Needs, Subject

SIGNED_IN: Final = Needs(Subject.CALLER)

VIEW_WORKSPACE: Final = Needs(Subject.WORKSPACE, Level.VIEW)
EDIT_WORKSPACE: Final = Needs(Subject.WORKSPACE, Level.EDIT)
ADMIN_WORKSPACE: Final = Needs(Subject.WORKSPACE, Level.ADMIN)

# A grant opens the list and the creation; the list is filtered, the definition checked.
LIST_AUTOMATIONS: Final = Needs(Subject.WORKSPACE, Level.VIEW, Grants.ANY)
CREATE_AUTOMATION: Final = Needs(Subject.WORKSPACE, Level.EDIT, Grants.ANY)
VIEW_AUTOMATION: Final = Needs(Subject.AUTOMATION, Level.VIEW, Grants.OF_ROW)
EDIT_AUTOMATION: Final = Needs(Subject.AUTOMATION, Level.EDIT, Grants.OF_ROW)

VIEW_DATABASE: Final = Needs(Subject.DATABASE, Level.VIEW)
EDIT_IN_DATABASE: Final = Needs(Subject.DATABASE, Level.EDIT)
ADMIN_DATABASE: Final = Needs(Subject.DATABASE, Level.ADMIN)
VIEW_RECORD: Final = Needs(Subject.RECORD, Level.VIEW)
EDIT_RECORD: Final = Needs(Subject.RECORD, Level.EDIT)
VIEW_PAGE: Final = Needs(Subject.PAGE, Level.VIEW)
