import pytest

from ragloom_templates.prompting import fill, placeholders


def test_placeholders_of_every_kind_are_found():
    content = "{{a}} ${b} ${input:c} ${input:d:a default} {{ e.f-g }} {{a}}"
    assert ["a", "b", "c", "d", "e.f-g"] == placeholders(content)


@pytest.mark.parametrize("content", ["{a}", "{{}}", "$a", "{{ a b }}", "{{a", "${}", "{{1}}"])
def test_other_braces_are_text(content):
    assert [] == placeholders(content)
    assert content == fill(content, {"a": "x", "1": "x"}).text


def test_values_are_put_in():
    prompt = fill("Answer in {{language}}: ${input:topic}", {"language": "Dutch", "topic": "bees"})
    assert "Answer in Dutch: bees" == prompt.text
    assert () == prompt.open


def test_the_problem_stands_for_its_names_unless_a_value_is_given():
    content = "{{problem}}|{{question}}|{{query}}|{{input}}"
    assert "P|P|P|P" == fill(content, {}, problem="P").text
    assert "P|Q|P|P" == fill(content, {"question": "Q"}, problem="P").text


def test_a_default_is_used_and_what_has_none_stays():
    prompt = fill("${input:a:one}, ${input:b}, {{c}}", {})
    assert "one, ${input:b}, {{c}}" == prompt.text
    assert ("b", "c") == prompt.open


def test_a_value_is_never_looked_at_again():
    values = {"a": "{{b}} ${c} {0} %s \\1 \\g<0>", "b": "B", "c": "C"}
    assert values["a"] == fill("{{a}}", values).text


def test_nothing_is_evaluated():
    content = "{{ __import__('os').getcwd() }} {{a.__class__}} {% for x in y %} ${1+1} $(pwd) `pwd`"
    assert content == fill(content, {}, problem="p").text
