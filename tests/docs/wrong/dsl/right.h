/// As docs/page.md says; docs/gone_too.md does not.
#pragma once
