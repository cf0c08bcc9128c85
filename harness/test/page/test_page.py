#!/usr/bin/env python3
"""test_page.py TSR ROOT [--bless] - the report in a headless Chromium: looks, keys, names, silence and speed.

Skipped (77) where there is no Chromium. --bless writes the reference pictures anew; a person looks at them.
"""
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

import chromium
import picture

HERE = pathlib.Path(__file__).resolve().parent
WIDTHS = (1280, 400)
THEMES = ("light", "dark")
# Drawings are compared without their letters, which another font would move: few fields may differ. The page as a whole keeps
# its letters, so only its mean counts.
DRAWINGS = {"roofline": "#roofline .plot", "samples": "#samples .plot", "history": "#history .plot", "gate": "#gates tbody tr:nth-child(3 of :not(.below)) svg",
            "cost": "#cost .plot", "time": "#time .plot", "memory": "#memory .plot", "steps": "#steps .plot"}
SCALE = {1280: 0.25, 400: 0.5}
PAGE_SCALE, PAGE_HEIGHT = {1280: 0.1, 400: 0.2}, 1800
FIELDS, FIELD_MOST, FIELDS_MOST = 48, 7.0, 6
PAGE_FIELDS, PAGE_MOST = 24, 8.0
SAMPLES = 1000000

failures = []


def check(holds, what):
    print(("ok - " if holds else "NOT OK - ") + what, flush=True)
    if not holds:
        failures.append(what)
    return holds


WITHOUT_LETTERS = ("(() => { const s = new CSSStyleSheet(); s.replaceSync('svg text { visibility: hidden }');"
                   " document.adoptedStyleSheets = [s]; })()")


def drawing(browser, name, width):
    """A picture of one drawing, put into the corner: where the text above places it is not its look."""
    box = browser.evaluate(
        f"(() => {{ const d = document.querySelector('{DRAWINGS[name]}'), at = d.getBoundingClientRect(); window.scrollTo(0, 0);"
        " Object.assign(d.style, {position: 'fixed', left: 0, top: 0, width: `${at.width}px`, height: `${at.height}px`,"
        " background: 'var(--panel)', zIndex: 99}); return [0, 0, Math.floor(at.width), Math.floor(at.height)]; })()")
    shot = browser.shot(SCALE[width], clip=box)
    browser.evaluate(f"document.querySelector('{DRAWINGS[name]}').removeAttribute('style')")
    return shot


def reference(name):
    return picture.decode((HERE / "reference" / f"{name}.png").read_bytes())


def compare_drawing(shot, name):
    """Tells whether a drawing looks like its reference, and the words for it."""
    far = picture.differences(picture.decode(shot), reference(name), FIELDS)
    other = sum(d > FIELD_MOST for d in far)
    return other <= FIELDS_MOST, f"{name} looks as it did ({other} of {len(far)} fields differ)"


def compare_page(shot, name):
    far = picture.differences(picture.decode(shot), reference(name), PAGE_FIELDS)
    mean = sum(far) / len(far)
    return mean <= PAGE_MOST, f"{name} looks as it did (mean difference {mean:.1f})"


def bless(shot, name):
    width, _, rows = picture.decode(shot)
    (HERE / "reference").mkdir(exist_ok=True)
    (HERE / "reference" / f"{name}.png").write_bytes(picture.encode(width, rows))


def look(shot, name, compare, blessing):
    if blessing:
        bless(shot, name)
    else:
        check(*compare(shot, name))


def looks(browser, page, blessing):
    for theme in THEMES:
        browser.theme(theme)
        for width in WIDTHS:
            browser.size(width, 900)
            browser.open(page)
            wide = browser.evaluate("document.documentElement.scrollWidth")
            check(wide <= width, f"{theme} {width}: nothing is wider than the window ({wide})")
            whole = browser.shot(PAGE_SCALE[width], clip=[0, 0, width, PAGE_HEIGHT])
            look(whole, f"{theme}-{width}-page", compare_page, blessing)
            browser.evaluate(WITHOUT_LETTERS)
            for name in DRAWINGS:
                look(drawing(browser, name, width), f"{theme}-{width}-{name}", compare_drawing, blessing)
    if not blessing:
        spoilt(browser, page)


def spoilt(browser, page):
    """The comparison must be able to fail: the other theme, and drawings without a part of them."""
    browser.size(1280, 900)
    browser.theme("light")
    browser.open(page)
    whole = browser.shot(PAGE_SCALE[1280], clip=[0, 0, 1280, PAGE_HEIGHT])
    check(not compare_page(whole, "dark-1280-page")[0], "the other theme is told apart")
    browser.evaluate(WITHOUT_LETTERS)
    for name, part in (("roofline", "canvas"), ("roofline", ".roof"), ("samples", "canvas"), ("history", ".series"), ("gate", ".bar"),
                       ("cost", ".bar"), ("time", ".layer.c0"), ("memory", ".layer.c0"), ("memory", ".roof"),
                       ("steps", ".series.c1")):
        every = f"document.querySelectorAll('{DRAWINGS[name]} {part}').forEach((e) => {{ e.style.visibility = '%s'; }})"
        browser.evaluate(every % "hidden")
        holds, words = compare_drawing(drawing(browser, name, 1280), f"light-1280-{name}")
        check(not holds, f"without {part} it is another drawing: {words}")
        browser.evaluate(every % "visible")


def names(browser):
    """Landmarks, captions, and a name for whatever the tab key stops at."""
    check(browser.evaluate("document.querySelectorAll('main').length === 1 && !!document.querySelector('nav[aria-label]')"
                           " && document.documentElement.lang === 'en'"), "there are landmarks")
    check(browser.evaluate("[...document.querySelectorAll('section')].every((s) => document.getElementById(s.getAttribute('aria-labelledby')))"),
          "every section has its title")
    check(browser.evaluate("[...document.querySelectorAll('table')].every((t) => t.caption && t.caption.textContent)"), "every table has a caption")
    browser.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    browser.evaluate("new Promise((done) => requestAnimationFrame(() => done(0)))")
    for name in ("roofline", "samples", "history", "cost", "time", "memory", "steps"):
        check(browser.evaluate(f"document.querySelectorAll('#{name} details table tbody tr').length > 0"), f"{name} is there as a table, too")
    browser.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = false; })")
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    roles = {"button", "link", "combobox", "searchbox", "application", "listbox", "option", "tab", "region", "textbox"}
    unnamed = [n["role"]["value"] for n in nodes if not n.get("ignored") and n.get("role", {}).get("value") in roles and
               not n.get("name", {}).get("value")]
    check(not unnamed, f"what one can act on has a name {unnamed[:5]}")


WHO = ("(() => { const a = document.activeElement; const r = a.getBoundingClientRect();"
       " return [a.tagName, a.id, a.className && String(a.className.baseVal ?? a.className), a.closest('section')?.id ?? null,"
       " r.width > 0 && r.height > 0, getComputedStyle(a).outlineStyle !== 'none']; })()")


def walk(browser, page):
    """The tab key alone reaches every section, and each stop shows itself."""
    browser.size(1280, 900)
    browser.open(page)
    for name in ("gates", "results"):
        check(browser.evaluate(f"[...document.querySelectorAll('#{name} tr.below td')].length > 0 && [...document.querySelectorAll('#{name} .scroll')]"
                               ".every((s) => s.scrollWidth <= s.clientWidth && [...s.querySelectorAll('tr.below td')]"
                               ".every((d) => d.clientWidth > s.clientWidth / 2))"), f"reasons of {name} have the whole width")
    stops, seen = [], set()
    for _ in range(300):
        browser.key("Tab")
        who = browser.evaluate(WHO)
        if who[0] == "BODY":
            break
        stops.append(who)
        seen.add(who[3])
    check(stops[0][2] == "skip", "the first stop skips to the results")
    check(all(who[4] and who[5] for who in stops), f"each of {len(stops)} stops is visible and has a ring "
          f"{[who for who in stops if not (who[4] and who[5])][:3]}")
    missing = {"steps", "gates", "roofline", "results", "samples", "history", "bits", "cost", "time", "memory"} - seen
    check(not missing, f"every part is reached {missing or ''}")


def live(browser):
    return browser.evaluate("document.getElementById('live').textContent")


def keys(browser, page):
    browser.open(page)
    browser.evaluate("document.querySelector('#roofline .plot .plot').focus()")
    browser.key("ArrowRight")
    first = live(browser)
    check("FLOP a byte" in first and "@ cpu" in first, f"an arrow reads a point out: {first}")
    browser.key("ArrowRight")
    second = live(browser)
    check(second != first, "the next arrow the next one")
    check(browser.evaluate("!document.getElementById('tip').hidden"), "its card is shown")
    browser.key("End")
    last = live(browser)
    browser.key("ArrowRight")
    check(live(browser) == last and last != second, "the end is the end")
    browser.key("Enter")
    chosen = browser.evaluate("document.querySelector('#samples h3').textContent")
    check(last.startswith(chosen), f"Enter shows its samples: {chosen}")
    browser.key("Escape")
    check(browser.evaluate("document.getElementById('tip').hidden"), "Escape puts the card away")
    browser.evaluate("document.querySelector('#history .plot').focus()")
    browser.key("End")
    check("run 202601" in live(browser), f"history answers, too: {live(browser)}")
    browser.evaluate("document.querySelector('#time .plot').focus()")
    browser.key("Home")
    check("1 of 4: pack" in live(browser) and "20.0 % of the launch" in live(browser), f"times answer, too: {live(browser)}")
    browser.evaluate("document.querySelector('#memory .plot').focus()")
    browser.key("Home")
    check("phase 1 of 4: pack" in live(browser) and "of the workspace" in live(browser), f"memory answers, too: {live(browser)}")
    browser.evaluate("document.querySelector('#steps .plot').focus()")
    browser.key("Home")
    check("step 0" in live(browser) and "loss 7" in live(browser), f"steps answer, too: {live(browser)}")
    browser.evaluate("document.querySelector('#bits button.warn').focus()")
    browser.key("Enter")
    check("differ between" in live(browser) and browser.evaluate("document.querySelectorAll('#bits tbody a').length > 0"),
          f"a cell lists what differs: {live(browser)}")
    browser.evaluate("document.querySelector('#bits tbody a').click()")
    check(browser.evaluate("document.querySelectorAll('#results .panel:last-of-type tbody tr:not(.below)').length") == 4, "and leads to the results of one case")
    browser.evaluate("[...document.querySelectorAll('#results thead button')].find((b) => b.textContent === 'median').click()")
    check(browser.evaluate("document.querySelector('#results th[aria-sort]').getAttribute('aria-sort')") == "descending", "a title sorts")


def themes(browser, page):
    browser.theme("light")
    browser.open(page)
    ground = "getComputedStyle(document.body).backgroundColor"
    before = browser.evaluate(ground)
    browser.evaluate("(() => { const t = document.getElementById('theme'); t.value = 'dark'; t.dispatchEvent(new Event('change')); })()")
    check(browser.evaluate(ground) != before, "the theme can be chosen")
    browser.evaluate("(() => { const t = document.getElementById('theme'); t.value = 'auto'; t.dispatchEvent(new Event('change')); })()")
    check(browser.evaluate(ground) == before, "and given back to the system")
    browser.theme("dark")
    browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    check(browser.evaluate(ground) == "rgb(255, 255, 255)", "paper is white, whatever the screen is")
    check(browser.evaluate("getComputedStyle(document.getElementById('nav')).display") == "none", "on paper there is nothing to press")
    browser.call("Emulation.setEmulatedMedia", media="", features=[])


def hostile(browser, page):
    browser.open(page)
    check(browser.evaluate("document.images.length === 0 && document.querySelectorAll('script').length === 3"), "names make no elements")
    check(browser.evaluate("document.body.textContent.includes('</script><img src=x onerror=alert(1)>')"), "they are shown as they are")
    browser.evaluate("(() => { const s = document.createElement('script'); s.textContent = 'window.intruder = 1'; document.body.append(s); })()")
    check(browser.evaluate("window.intruder === undefined"), "a script that is not the page's does not run")
    browser.errors.clear()  # Chromium has said so


def variants(browser, tsr, folder):
    """A gate alone, a file of results, two runs, and an old run that is the first of its machine."""
    def page(name, *words):
        subprocess.run([tsr, "report", "-o", folder / name, *words], check=True, capture_output=True, cwd=folder)
        browser.open(folder / name)

    titles = "[...document.querySelectorAll('h2')].map((h) => h.textContent)"
    page("alone.html", "--gate", "gate.json")
    check(browser.evaluate(titles) == ["Gates"], "a gate alone is a page of gates")
    page("steps.html", "--steps", "a.jsonl")
    check(browser.evaluate(titles) == ["Steps"], "steps alone are a page of steps")
    (folder / "wild.jsonl").write_text('{"step": 0, "loss": 1}\n{"step": 1, "loss": 1.0000000000000002}\n{"step": 2, "other": 1e308}\n{"step": 3, "other": -1e308}\n')
    page("wild.html", "--steps", "wild.jsonl")
    check(browser.evaluate("document.querySelectorAll('#steps .panel').length") == 2, "numbers that are hardly apart, and too far apart, are drawn")
    subprocess.run([tsr, "log", "last", "--db", "a.db", "--json"], check=True, stdout=(folder / "run.json").open("w"), cwd=folder)
    page("file.html", "./run.json")
    check("No samples are stored" in browser.evaluate("document.getElementById('samples').textContent"), "a file has no samples, and says so")
    page("two.html", "--db", "a.db", "20260128", "20260102")
    second = "(() => { const r = document.getElementById('run'); r.value = '1'; r.dispatchEvent(new Event('change')); })()"
    browser.evaluate(second)
    check("20260102" in browser.evaluate("document.querySelector('h1').textContent"), "another run can be chosen")
    check(browser.evaluate("document.querySelectorAll('#roofline canvas').length") == 1, "and is drawn")
    page("first.html", "--db", "a.db", "20260101")
    check("first run of this machine" in browser.evaluate("document.getElementById('history').textContent"), "the first run has no past")


JUNK = [None, True, -1, 0, 1e308, "text", "</script>", [], [None], {}, {"low": "x"}]


def spoil(value, number):
    """The same document with its leaves replaced by what has no business there, another one for each number."""
    if isinstance(value, dict):
        return {key: spoil(inner, number + i) for i, (key, inner) in enumerate(value.items())}
    if isinstance(value, list):
        return [spoil(inner, number + i) for i, inner in enumerate(value)]
    return JUNK[number % len(JUNK)]


def spoilt_documents(browser, page, folder):
    """Data that are JSON and nothing else: the page draws what it can, and no script fails."""
    before, body = len(browser.errors), page.read_text()
    start = body.index('id="report-data">') + len('id="report-data">')
    end = body.index("</script>", start)
    document = json.loads(body[start:end])
    run, gate = document["runs"][0], document["gates"][0]
    for number, junk in enumerate(JUNK):
        # Parts that come from others: all of a gate, and of a run all but the columns, which tsr writes.
        other = dict(document, runs=[dict(spoil(run, number), columns=run["columns"])], gates=[spoil(gate, number)])
        other["gates"][0]["results"] = [junk, *(spoil(r, number + i) for i, r in enumerate(gate["results"]))]
        (folder / "junk.html").write_text(body[:start] + json.dumps(other).replace("<", "\\u003c") + body[end:])
        browser.open(folder / "junk.html")
    check(len(browser.errors) == before, f"{len(JUNK)} spoilt documents break nothing {browser.errors[before:before + 2]}")


def levels(browser, tsr, folder):
    (folder / "corpus" / "small").mkdir(parents=True)
    (folder / "corpus" / "small" / "small.tsr").write_text(
        '"""One kernel."""\nfrom tessera import *\n\n\n@cases(case("tiny", M=4, N=6, K=8))\n@kernel\n'
        'def product(x: Tensor["M", "K", f32], y: Tensor["K", "N", f32]) -> Tensor["M", "N", f32]:\n    """Twice x @ y."""\n'
        "    z = x @ y\n    return z + z\n")
    subprocess.run([tsr, "bench", "corpus", "--quick", "--profile", "strict", "--backend", "cpu"], cwd=folder, check=True, capture_output=True)
    subprocess.run([tsr, "report", "-o", "levels.html"], cwd=folder, check=True, capture_output=True)
    browser.open(folder / "levels.html")
    lit = "[...document.querySelectorAll('#levels [role=region] .line.lit')].map((l) => l.textContent)"
    browser.evaluate("document.querySelector('#levels [data-line=\"9\"]').focus()")
    browser.key("ArrowUp")
    browser.key("ArrowDown")
    ninth = browser.evaluate(lit)
    browser.key("ArrowDown")
    tenth = browser.evaluate(lit)
    check(any("tile.fma" in line or "tile.mul" in line for line in ninth), f"line 9 lights the product ({len(ninth)} lines)")
    check(any("tile.add" in line for line in tenth) and not any("tile.fma" in line for line in tenth), f"line 10 the sum ({len(tenth)} lines)")
    browser.evaluate("document.querySelector('#levels [role=tab]').focus()")
    browser.key("ArrowRight")
    check(browser.evaluate("document.querySelector('#levels [role=tab][aria-selected=true]').textContent") == "Schedule IR", "arrows go from level to level")


def speed(browser, tsr, folder):
    if 0 <= resource.getrlimit(resource.RLIMIT_FSIZE)[0] < 1 << 30:
        print(f"skipped: a file of {SAMPLES} samples may not be written here")
        return
    subprocess.run([sys.executable, HERE / "fixture.py", folder / "many.db", folder / "gate.json", str(SAMPLES)], check=True)
    written, drawn = [], []
    for _ in range(3):
        began = time.monotonic()
        subprocess.run([tsr, "report", "--db", folder / "many.db", "-o", folder / "many.html"], check=True, capture_output=True)
        written.append(time.monotonic() - began)
        drawn.append(browser.open(folder / "many.html"))
    shown = browser.evaluate("document.querySelector('#samples .help').textContent")
    check("1 000 000 samples" in shown, f"all are there: {shown}")
    print(f"{SAMPLES} samples are written in {min(written):.2f} s and drawn in {min(drawn):.2f} s (shown, not judged)")


def steps_of(name, rate):
    """The lines of a run whose loss falls from 7 to 3; one of them has no loss."""
    for step in range(120):
        loss = f"{3 + 4 * rate / (rate + step) + 0.1 * (step * 7 % 5):.6f}" if step != 60 else "null"
        yield f'{{"kernel": "train_{name}", "step": {step}, "loss": {loss}, "seconds": {0.02 + 0.001 * (step % 7):.6f}}}\n'


def main():
    program = chromium.find()
    if not program:
        print("skipped: there is no Chromium here")
        return 77
    tsr, blessing = str(pathlib.Path(sys.argv[1]).resolve()), "--bless" in sys.argv
    with tempfile.TemporaryDirectory(prefix="tsr-page-") as place:
        folder = pathlib.Path(place)
        subprocess.run([sys.executable, HERE / "fixture.py", folder / "a.db", folder / "gate.json"], check=True)
        page = folder / "page.html"
        for name, rate in (("a", 40), ("b", 90)):
            (folder / f"{name}.jsonl").write_text("".join(steps_of(name, rate)))
        subprocess.run([tsr, "report", "--db", "a.db", "--steps", "a.jsonl", "--steps", "b.jsonl", "-o", page], check=True, capture_output=True, cwd=folder)
        try:
            browser = chromium.Browser(program)
        except (RuntimeError, TimeoutError, OSError) as error:
            print(f"skipped: {program} does not start here: {error}")
            return 77
        try:
            looks(browser, page, blessing)
            if not blessing:
                names(browser)
                walk(browser, page)
                keys(browser, page)
                themes(browser, page)
                hostile(browser, page)
                variants(browser, tsr, folder)
                spoilt_documents(browser, page, folder)
                levels(browser, tsr, folder)
                speed(browser, tsr, folder)
            check(not browser.errors, f"the console is silent {browser.errors[:3]}")
            foreign = [url for url in browser.asked if not re.match(r"file://.*\.html(#.*)?$", url)]
            check(not foreign, f"nothing else is asked for {foreign[:3]}")
        finally:
            browser.close()
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
