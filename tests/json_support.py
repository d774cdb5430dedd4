"""What tests of `--json` share, whose command line is SPMVPACK SCHEMA. Without jsonschema, the test ends as skipped."""

import json
import subprocess
import sys

try:
    import jsonschema
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

SPMVPACK, SCHEMA = sys.argv[1:]
with open(SCHEMA, encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
VALIDATOR = jsonschema.Draft202012Validator(schema)


def run(*arguments):
    return subprocess.run([SPMVPACK, *arguments], check=True, stdout=subprocess.PIPE).stdout


def strict(name):
    raise ValueError(f"{name} is not JSON")


def told_by(*arguments):
    """What the command tells in JSON, which is as the schema says."""
    told = json.loads(run(*arguments), parse_constant=strict)
    VALIDATOR.validate(told)
    return told
