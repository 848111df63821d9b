"""Observers of every kind."""

from grammar import feature, text

BOX = '<div class=box style="height:40px">box</div>'
AT = "here.querySelector('.box')"

feature(
    "resize",
    f"new ResizeObserver(e => say(Math.round(e[0].contentRect.height))).observe({AT});",
    body=BOX,
)
feature(
    "resize-changes",
    f"const box = {AT}; let n = 0; new ResizeObserver(() => {{ say(++n); if (n < 4)"
    " box.style.height = 40 + n * 10 + 'px'; }).observe(box);",
    body=BOX,
)
feature(
    "resize-later",
    f"const box = {AT}; new ResizeObserver(() => say(box.offsetHeight)).observe(box); setTimeout(()"
    " => box.style.height = '80px', 300);",
    body=BOX,
)
feature(
    "resize-body",
    "new ResizeObserver(e => say(Math.round(e[0].contentRect.height /"
    " 1000))).observe(document.body);",
)
feature(
    "intersection",
    f"new IntersectionObserver(e => say(e[0].isIntersecting)).observe({AT});",
    body=BOX,
)
feature(
    "intersection-below",
    f"new IntersectionObserver(e => say(e[0].isIntersecting)).observe({AT});",
    body='<div style="height:1200px"></div>' + BOX,
)
feature(
    "intersection-thresholds",
    "new IntersectionObserver(e => e.forEach(x => say(x.intersectionRatio.toFixed(1))),"
    f" {{threshold: [0, .5, 1]}}).observe({AT});",
    body=BOX,
)
feature(
    "intersection-feed",
    """let n = 0, busy = false; const end = here.querySelector('i'); const more = async () => {
    if (busy || n > 4) return; busy = true;
    await fetch('@/a?' + n); const d = document.createElement('div'); d.style.height = '180px';
    here.insertBefore(d, end); say(++n); busy = false; };
    new IntersectionObserver(e => e[0].isIntersecting && more()).observe(end); more();""",
    body="<i>end</i>",
    files={"a": text("[]")},
)
feature(
    "intersection-time",
    f"new IntersectionObserver(e => say(Math.round(e[0].time / 100))).observe({AT});",
    body=BOX,
)
feature(
    "mutation",
    f"new MutationObserver(list => say(list.length)).observe({AT}, {{childList: true, attributes:"
    f" true}}); {AT}.id = 'x'; {AT}.append('y'); say('sync');",
    body=BOX,
)
feature(
    "mutation-parser",
    "const o = new MutationObserver(() => { say(); o.disconnect(); }); o.observe(document.body,"
    " {childList: true});",
)
feature(
    "performance",
    "new PerformanceObserver(list => list.getEntries().forEach(e => say(e.name))).observe({type:"
    " 'mark'}); performance.mark('m1'); performance.mark('m2');",
)
feature(
    "performance-resource",
    "new PerformanceObserver(list => list.getEntries().forEach(e => e.name.includes('@name') &&"
    " say(e.initiatorType))).observe({type: 'resource'}); fetch('@/a');",
    files={"a": text("text")},
)
feature(
    "performance-paint",
    "new PerformanceObserver(list => list.getEntries().forEach(e => say(e.name))).observe({type:"
    " 'paint', buffered: true});",
)
feature(
    "performance-lcp",
    "new PerformanceObserver(list => list.getEntries().forEach(e => say(e.size))).observe({type:"
    " 'largest-contentful-paint', buffered: true});",
)
feature(
    "performance-shift",
    "new PerformanceObserver(list => list.getEntries().forEach(e =>"
    " say(e.value.toFixed(3)))).observe({type: 'layout-shift', buffered: true}); setTimeout(() =>"
    " here.style.paddingTop = '90px', 300);",
    body=BOX,
)
feature(
    "performance-navigation",
    "addEventListener('load', () => setTimeout(() => { const n ="
    " performance.getEntriesByType('navigation')[0]; say(n.type); say(n.loadEventEnd >="
    " n.responseEnd); }));",
)
feature(
    "performance-timing",
    "addEventListener('load', () => setTimeout(() =>"
    " say(Math.round(performance.getEntriesByType('navigation')[0].loadEventEnd))));",
)
feature(
    "performance-event",
    "new PerformanceObserver(list => say(list.getEntries().some(e => e.name ==="
    " 'click'))).observe({type: 'event', durationThreshold: 16}); button.onclick = () =>"
    " say('clicked');",
    button=True,
)
feature(
    "reporting",
    "new ReportingObserver(list => say(list[0].type), {buffered: true}).observe(); document.domain;"
    " navigator.vibrate && navigator.vibrate(1); say('asked');",
)
feature(
    "media-query",
    "const q = matchMedia('(min-width: 600px)'); q.onchange = () => say('change'); say(q.matches);",
)
feature(
    "font-size-observer",
    "new ResizeObserver(() => say(getComputedStyle(here).fontSize)).observe(here);"
    " document.fonts.ready.then(() => here.style.fontSize = '20px');",
    body=BOX,
)
feature(
    "observers-together",
    f"""const box = {AT}; fetch('@/a').then(() => say('fetch'));
    requestAnimationFrame(() => say('raf'));
    new IntersectionObserver(() => say('intersection')).observe(box);
    new ResizeObserver(() => say('resize')).observe(box);""",
    body=BOX,
    files={"a": text("{}")},
)
feature(
    "visibility",
    "document.addEventListener('visibilitychange', () => say(document.visibilityState));"
    " say(document.visibilityState);",
)
feature(
    "focus-events",
    "addEventListener('focus', () => say('focus')); addEventListener('blur', () => say('blur'));"
    " say(document.hasFocus());",
)
feature(
    "readiness",
    "document.addEventListener('readystatechange', () => say(document.readyState));"
    " say(document.readyState);",
)
feature("page-shown", "addEventListener('pageshow', event => say(event.persisted));")
feature(
    "element-timing",
    "new PerformanceObserver(list => say(list.getEntries()[0].identifier)).observe({type:"
    " 'element', buffered: true});",
    body='<p elementtiming="text">some text</p>',
)
feature(
    "long-task",
    "new PerformanceObserver(list => say('long')).observe({type: 'longtask', buffered: true});",
)
