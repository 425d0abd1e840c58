#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/data/jinja_cases.json: small templates, variables and what jinja2 writes, with the
settings of transformers' chat templates.

    python make_jinja_vectors.py OUT_FILE
"""
import json
import pathlib
import sys

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

TEMPLATES = {
    "ChatML": "{% for m in messages %}{{'<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n'}}{% endfor %}"
              "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
    "turns with a merged system prompt": """{{ bos_token }}
{%- if messages and messages[0]['role'] == 'system' -%}
    {%- set prefix = messages[0]['content'] + '

' -%}
    {%- set rest = messages[1:] -%}
{%- else -%}
    {%- set prefix = "" -%}
    {%- set rest = messages -%}
{%- endif -%}
{%- for message in rest -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("roles must alternate") }}
    {%- endif -%}
    {%- set role = "model" if message.role == 'assistant' else message.role -%}
    {{ '<start_of_turn>' + role + '
' + (prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}
                {{ '<image>' }}
            {%- elif item['type'] == 'text' -%}
                {{ item['text'] | trim }}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {{ '<end_of_turn>
' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model
'}}
{%- endif -%}
""",
    "blocks on lines of their own": "{% for message in messages %}\n{% if message['role'] == 'user' %}\n"
                                    "{{ '<|user|>\n' + message['role'] + eos_token }}\n{% else %}\n  x\n{% endif %}\n{% endfor %}\n",
    "white space": "  {% if true %}\n   a\n  {%- set x = 1 %}\n\n {{ x }}\n   {# c #}\n  b {% endif %}\n\n",
    "arithmetic": "{{ 1 + 2 * 3 - 4 // 3 % 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 'a' ~ 1 ~ true ~ none }} {{ 2 > 1 }} {{ 2 <= 1 }}",
    "lists and texts": "{{ messages[0:1] | length }} {{ 'abc'[::-1] }} {{ 'abc'[1:] }} {{ [1,2,3] | first }} {{ 1 in [1,2] }} "
                       "{{ 'k' not in {'k':1} }} {{ (1, 2) | last }} {{ 'a' 'b' }}",
    "tests": "{{ x is defined }} {{ x is not defined and true }} {{ messages is sequence }} {{ 'a' is string }} "
             "{{ {} is mapping }} {{ none is none }} {{ 3 is odd }} {{ not messages is string }}",
    "namespace and loop": "{% set ns = namespace(a=0, s='') %}{% for m in messages %}{% set ns.a = ns.a + 1 %}"
                          "{% set ns.s = ns.s ~ loop.index0 ~ loop.last %}{% if loop.first %}{% continue %}{% endif %}"
                          "{% if loop.index > 2 %}{% break %}{% endif %}[{{ loop.previtem.role }}]{% endfor %}{{ ns.a }}{{ ns.s }}",
    "a set inside a loop stays there": "{% set x = 1 %}{% for m in messages %}{% set x = 2 %}{% endfor %}{{ x }}",
    "macros": "{% macro f(a, b='q') %}<{{ a }}|{{ b }}>{% endmacro %}{{ f('x') }}{{ f('y', b='z') }}"
              "{% set c %}blk{{ f(1) }}{% endset %}{{ c | trim }}",
    "text methods": "{{ '  a b '.strip() }}{{ 'a,b'.split(',') | join('+') }}{{ 'abc'.startswith('ab') }}{{ 'x' | default('y') }}"
                    "{{ zz | default('y') }}{{ ' a\n' | trim }}{{ 'aXa'.replace('a','b') }}{{ 'Ab' | upper }}",
    "maps": "{% for k, v in {'b':1,'A':2} | dictsort %}{{k}}{{v}}{% endfor %}{{ {'a': 3}.get('a') }}"
            "{% for k, v in {'b':1}.items() %}{{ k }}{{ v }}{% endfor %}",
    "filtered loop with else": "{% for m in messages if m.role != 'system' %}{{ m.role }}{{ loop.index }}{% else %}none{% endfor %}",
    "refusal": "{{ raise_exception('no') }}",
    "not closed": "{% if true %}x",
}
CONVERSATIONS = [
    [{"role": "user", "content": "hi \u00e4 <b>"}],
    [{"role": "system", "content": " S "}, {"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"},
     {"role": "user", "content": "b\n"}],
    [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": " what? "}]}],
    [],
]


def refuse(message):
    raise jinja2.TemplateError(message)


environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
environment.globals["raise_exception"] = refuse
cases = []
for title, source in TEMPLATES.items():
    for number, messages in enumerate(CONVERSATIONS):
        variables = {"messages": messages, "add_generation_prompt": True, "bos_token": "<bos>", "eos_token": "<eos>"}
        try:
            expected = environment.from_string(source).render(**variables)
        except (jinja2.TemplateError, TypeError):
            expected = None
        cases.append({"title": f"{title}, {number}", "source": source, "variables": variables, "expected": expected})
text = json.dumps({"jinja2": jinja2.__version__, "cases": cases}, ensure_ascii=True, indent=0)
pathlib.Path(sys.argv[1]).write_text(text + "\n")
