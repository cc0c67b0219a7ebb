"""The page in a real browser: every view, the gate, what is shown as text, and who can use it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from browser import (
    HOSTILE_NAME,
    complaints,
    page_of,
    requested,
    settle,
    size_of,
    theme_of,
    visit,
)

pytestmark = pytest.mark.slow

QUERY = "How do I log errors?"
LOGGING = "docs/examples/observability/pillars/logging.md"
VIEWS = {
    "welcome": "/?view=search",
    "search": f"/?view=search&q={quote(QUERY)}",
    "document": f"/?view=document&path={LOGGING}&line=45",
    "files": "/?view=document",
    "map": f"/?view=map&q={quote(QUERY)}",
    "relevance": "/?view=relevance",
    "lessons": "/?view=lessons",
    "audit": "/?view=audit",
}
SIZES = (360, 1024, 1600)
MADE = "main img, main script, main style, main b[onmouseover]"  # where a text has become HTML
AXE = Path(__file__).parents[2] / "data" / "axe" / "axe.min.js"


@pytest.fixture(scope="module")
def lessons(project):
    """What was captured, tried and resolved in two ways; and a template."""
    captured = [
        {"solution_steps": "Add the missing index.", "error_message": "slow query on orders"},
        {
            "solution_steps": "Cache the answer for a minute.",
            "error_message": "slow query on orders",
        },
    ]
    lines = [
        json.dumps(
            {
                "kind": "failure_solution",
                "project": "shop",
                "agent_type": "coder",
                "failure_description": "The order list took ten seconds",
                "success_verified": True,
                **one,
            }
        )
        for one in captured
    ]
    command = [
        sys.executable,
        "-m",
        "ragloom",
        "-C",
        str(project),
        "knowledge",
        "capture",
        "--json",
    ]
    subprocess.run(command, input="\n".join(lines), text=True, check=True, capture_output=True)
    template = project / "data" / "templates" / "proof.md"
    template.parent.mkdir(parents=True)
    template.write_text(
        "---\nname: Proof by contradiction\ndomain: logic\n---\nAssume the opposite.\n", "utf-8"
    )


@pytest.fixture(scope="module")
def base(project, lessons, driver):
    """The page, entered with its token; what is asked of elsewhere is counted from here on."""
    with page_of(project, "--space", "docs") as (url, _):
        theme_of(driver, "light")
        size_of(driver, 1600)
        visit(driver, url)
        assert "token" not in driver.current_url
        yield f"http://{urlsplit(url).netloc}"


def texts(driver, selector):
    """What elements say, all at one moment: the page may replace them between two questions."""
    return driver.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText.trim())",
        selector,
    )


def moved(driver, selector, value):
    """Move a slider as a hand does."""
    driver.execute_script(
        "const one = document.querySelector(arguments[0]); one.value = arguments[1];"
        "one.dispatchEvent(new Event('input', { bubbles: true }))",
        selector,
        str(value),
    )


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_view_at_every_width_scrolls_down_only_and_complains_of_nothing(base, driver, theme):
    folder = os.environ.get("RAGLOOM_VIEWS")  # to look at
    theme_of(driver, theme)
    for width in SIZES:
        size_of(driver, width, 800 if width < 500 else 1000)
        for name, path in VIEWS.items():
            visit(driver, base + path)
            over = driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
            assert over <= 0, (name, width)
            assert driver.find_element("tag name", "main").text, (name, width)
            if folder:
                driver.save_screenshot(str(Path(folder, f"{name}-{theme}-{width}.png")))
    assert [] == complaints(driver)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_no_serious_fault(base, driver, theme):
    theme_of(driver, theme)
    size_of(driver, 1600)
    source = AXE.read_text("utf-8")
    found = {}
    for name, path in VIEWS.items():
        visit(driver, base + path)
        driver.execute_script(source)
        told = driver.execute_async_script(
            "const done = arguments[0];"
            "axe.run(document, { resultTypes: ['violations'] }).then((told) => done(told.violations))"
        )
        faults = [one for one in told if one["impact"] in ("serious", "critical")]
        if faults:
            found[name] = [
                (one["id"], [node["html"][:120] for node in one["nodes"]][:3]) for one in faults
            ]
    assert {} == found


def test_no_request_leaves_the_machine(base, driver):
    requested(driver)
    for path in VIEWS.values():
        visit(driver, base + path)
    asked = requested(driver)
    assert len(asked) > len(VIEWS)
    assert [] == [url for url in asked if not url.startswith((f"{base}/", "data:"))]


def test_the_slider_changes_what_is_shown_and_asks_nothing(base, driver, space):
    size_of(driver, 1600)
    visit(driver, base + VIEWS["search"])
    requested(driver)
    for gate in (0.0, 0.3, 0.8, 0.95, 1.0):
        moved(driver, "#gate", gate)
        shown = [
            (one.get_attribute("data-path"), one.get_attribute("data-rank"))
            for one in driver.find_elements("css selector", ".hits > .hit")
        ]
        hits = space.search(QUERY, min_relevance=gate).hits
        assert [hit.chunk.uri for hit in hits] == [path for path, _ in shown]
    assert ["No hit"] == texts(driver, ".hits .big")
    assert [] == requested(driver)
    visit(driver, driver.current_url)  # the gate is in the address
    assert ["1.00"] == texts(driver, "output")


def test_words_are_marked_and_facets_narrow(base, driver):
    visit(driver, f"{base}/?q=retry+calls")
    assert "Retry" in texts(driver, ".hit mark")
    boxes = driver.find_elements("css selector", ".values label")
    next(one for one in boxes if one.text.startswith("draft")).click()
    settle(driver)
    paths = [one.get_attribute("data-path") for one in driver.find_elements("css selector", ".hit")]
    assert {"docs/adr/0002.md"} == set(paths)


@pytest.mark.parametrize("path", ["notes/outside.md", "docs/empty.md", "docs/adr/0001.md"])
def test_why_not_names_the_reason_that_explain_gives(base, driver, space, path):
    told = space.explain(QUERY, expect=path)
    visit(driver, base + VIEWS["search"])
    field = driver.find_element("id", "why-file")
    field.send_keys(path)
    field.submit()
    settle(driver)
    said = driver.find_element("css selector", ".told").text
    reasons = [one.verdict for one in told.expected] or [told.reason]
    assert [] == [reason for reason in reasons if not reason or reason not in said]


def test_a_document_shows_its_chunks_and_what_is_near(base, driver):
    visit(driver, base + VIEWS["document"])
    assert len(driver.find_elements("css selector", ".source .chunk")) >= 5
    selected = driver.find_element("css selector", ".chunk[data-selected]")
    assert "sampling" in selected.text
    assert "Best Practices" in driver.find_element("css selector", ".embedded").text
    assert 6 == len(texts(driver, ".near li"))
    driver.find_element("css selector", "body").send_keys("j")
    settle(driver)
    assert "sampling" not in driver.find_element("css selector", ".chunk[data-selected]").text


def test_a_point_of_the_map_is_a_chunk_and_hits_light_up(base, driver, space):
    size_of(driver, 1600)
    visit(driver, base + VIEWS["map"])
    canvas = driver.find_element("id", "map")
    time.sleep(0.3)
    assert str(len(space.snapshot())) == canvas.get_attribute("data-points")
    assert str(len(space.search(QUERY).hits)) == canvas.get_attribute("data-hits")
    assert len(texts(driver, ".near li")) == len(space.search(QUERY).hits)
    painted = driver.execute_script(
        "const one = arguments[0], pen = one.getContext('2d');"
        "const all = pen.getImageData(0, 0, one.width, one.height).data;"
        "let count = 0; for (let at = 0; at < all.length; at += 4) count += all[at] !== all[0];"
        "return count",
        canvas,
    )
    assert painted > len(space.snapshot()) * 5
    chip = next(
        one for one in driver.find_elements("css selector", ".chip") if "duplicates" in one.text
    )
    chip.click()
    settle(driver)
    assert ["duplicates"] == [one.split()[0] for one in texts(driver, ".chip[aria-pressed=true]")]
    assert any("docs/copy.md" in one for one in texts(driver, ".near li"))


def test_relevance_is_measured_and_the_threshold_says_what_it_keeps(base, driver):
    visit(driver, base + VIEWS["relevance"])
    for button in driver.find_elements("css selector", ".measuring button"):
        button.click()
    deadline = time.monotonic() + 120
    while not texts(driver, ".verdicts b") and time.monotonic() < deadline:
        time.sleep(0.2)
    assert "0.30" == texts(driver, ".verdicts b")[0]
    moved(driver, "#threshold", 0)
    everything = ["0.00", "100 %", "100 %"]
    while texts(driver, ".verdicts b") != everything and time.monotonic() < deadline:
        time.sleep(0.2)  # until a query of either kind has been asked
    assert everything == texts(driver, ".verdicts b")
    assert 2 == len(driver.find_elements("css selector", ".charts canvas"))


def test_lessons_templates_and_the_audit_log_are_there(base, driver):
    visit(driver, base + VIEWS["lessons"])
    said = driver.find_element("tag name", "main").text
    for expected in (
        "Add the missing index.",
        "conflicts with",
        "1 of 1",
        "Proof by contradiction",
    ):
        assert expected in said
    visit(driver, base + VIEWS["audit"])
    assert any("how do I bake bread?" in one for one in texts(driver, ".nothing li"))


def test_it_is_used_by_keys_alone(base, driver):
    from selenium.webdriver.common.keys import Keys

    visit(driver, base + VIEWS["welcome"])
    body = driver.find_element("tag name", "body")
    body.send_keys("/")
    driver.switch_to.active_element.send_keys(QUERY, Keys.ENTER)
    settle(driver)
    driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    driver.find_element("tag name", "body").send_keys("j", "j")
    assert "hit" == driver.switch_to.active_element.get_attribute("class")
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    settle(driver)
    assert "view=document" in driver.current_url
    driver.find_element("tag name", "body").send_keys("3")
    settle(driver)
    assert "view=map" in driver.current_url


def test_a_hostile_document_is_text_everywhere(base, driver):
    name = quote(f"hostile/{HOSTILE_NAME}")
    seen = ""
    for path in (
        "?view=search&q=zeppelins",
        f"?view=document&path={name}",
        "?view=document",
        "?view=map&q=zeppelins",
        "?view=relevance",
        "?view=audit",
    ):
        visit(driver, f"{base}/{path}{'&' if '?' in path else '?'}space=hostile")
        assert driver.execute_script("return window.pwned") is None
        assert [] == driver.find_elements(
            "css selector", "main img, main script, main style, main b[onmouseover]"
        )
        said = driver.find_element("tag name", "main").text
        assert not set(said) & set("\x1b\x07\x9b\u202e"), path
        seen += said
    for expected in (
        "<script>window.pwned=4</script>",
        '<img src=x onerror="window.pwned=5">',
        "</pre></div></main><script>window.pwned=6</script>",
        "a<img src=x onerror=window.pwned=1>\u241b[31m.md",
        "<b onmouseover=window.pwned=3>draft</b>",
        "\u241b[31mred",
    ):
        assert expected in seen
    assert [] == complaints(driver)


def test_every_view_over_fifty_thousand_chunks(driver, tmp_path_factory, monkeypatch, root):
    monkeypatch.syspath_prepend(root / "benchmarks" / "speed")
    for name in ("processes", "search"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    folder = tmp_path_factory.mktemp("large")
    (question, *_) = import_module("search").build(folder, root / "examples" / "docs", 50_000)
    size_of(driver, 1600)
    with page_of(folder) as (url, _):
        base = f"http://{urlsplit(url).netloc}"
        visit(driver, url)
        assert "50,000 chunks" in driver.find_element("tag name", "main").text
        visit(driver, f"{base}/?q={quote(question)}")
        assert texts(driver, ".hits .hit")
        for view in ("document", "relevance", "lessons", "audit"):
            visit(driver, f"{base}/?view={view}")
            assert driver.find_element("tag name", "main").text
        visit(driver, f"{base}/?view=map&q={quote(question)}")
        time.sleep(0.3)
        assert "50000" == driver.find_element("id", "map").get_attribute("data-points")
        assert any("outliers 5" in one for one in texts(driver, ".chip"))
        assert [] == complaints(driver)


def test_the_manual_shows_the_page_as_it_is(base, driver, root, tmp_path):
    """With RAGLOOM_SCREENSHOTS=docs/images it makes the pictures of the manual."""
    folder = Path(os.environ.get("RAGLOOM_SCREENSHOTS") or tmp_path)
    theme_of(driver, "light")
    size_of(driver, 1280, 800)
    made = set()
    for name in ("search", "document", "map", "relevance"):
        visit(driver, base + VIEWS[name])
        if name == "relevance":  # measured above
            deadline = time.monotonic() + 120
            while not re.search(
                r"^\d+ queries$", driver.find_element("tag name", "main").text, re.MULTILINE
            ):
                for button in driver.find_elements("css selector", ".measuring button"):
                    button.click()
                assert time.monotonic() < deadline
                time.sleep(0.5)
        time.sleep(0.4)
        driver.save_screenshot(str(folder / f"ui-{name}.png"))
        assert (folder / f"ui-{name}.png").stat().st_size > 20_000
        made.add(f"ui-{name}.png")
    page = (root / "docs" / "ui.md").read_text("utf-8")
    assert made == set(re.findall(r"images/(ui-\w+\.png)", page))
    assert made == {path.name for path in (root / "docs" / "images").iterdir()}
