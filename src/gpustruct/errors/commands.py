"""Messages of CommandError: the command line."""

TEMPLATES = {
    "file": "a file must be readable (current: {reason}) - at {name}; correct the path, or pass - for standard input",
    "encoding": "a shader must be UTF-8 (current: byte {byte}, {at} bytes in) - at {name}; convert it",
    "folder-empty": "a folder must contain .wgsl or .wesl files, or subfolders with them (current: none) - at {name}; name the files",
    "folder-write": "the folder for pictures must be writable (current: {reason}) - at {name}; pass another",
    "schema-module": "module:Class must name a module that can be imported (current: {reason}) - at {module}; run in the folder that has it, or set PYTHONPATH",
    "schema-class": "module:Class must name something in its module (current: no {path}) - at {module}:{path}; correct the name",
    "schema-type": "module:Class must name a gpustruct type (current: {current}) - at {name}; name a subclass of Struct",
    "struct-missing": "--struct must name a struct of the input (current: {name}) - at {where}; it has {known}",
    "python-input": "--python takes one shader (current: {current}) - at gpustruct inspect; name one WGSL file",
    "percent": "it must be a percentage from 0 to 100 (current: {value}) - at --waste; leave it out for 25",
    "whole-number": "it must be a whole number from {least} to {most} (current: {value}) - at {option}; such as {example}",
    "size-schema": "the records of a schema must fit into {most} bytes (current: {sizes} records of {schemas}) - at --size; use at most {records}",
    "memory": "the data must fit into memory (current: {reason}) - at gpustruct {command}; use fewer records or a smaller input",
    "write": "a file must be writable (current: {reason}) - at {name}; pass another path",
    "rule-unknown": "gpustruct explain takes the name of a rule, or a message (current: {current}) - at gpustruct explain; {way_out}",
    "nothing": "there must be something to {verb} (current: no host-shareable struct or binding) - at {where}; pass another file",
    "part-missing": "gpustruct {command} needs a part that is not installed (current: {reason}) - at gpustruct {command}; reinstall gpustruct",
}
