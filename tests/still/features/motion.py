"""What moves: transitions, animations, scrolling as a clock, containers, what is not drawn."""

from grammar import feature

BOX = '<div class=box style="width:50px;height:20px;background:#ccc">box</div>'
AT = "here.querySelector('.box')"

feature(
    "transition",
    f"""const box = {AT};
    for (const kind of ['run', 'start', 'end'])
    box.addEventListener('transition' + kind, () => say(kind));
    requestAnimationFrame(() => {{ box.style.transition = 'width .3s'; box.offsetWidth;
    box.style.width = '90px'; }});""",
    body=BOX,
)
feature(
    "transition-after-load",
    f"const box = {AT}; box.style.transition = 'opacity .2s'; box.ontransitionend = () =>"
    " say('end'); addEventListener('load', () => setTimeout(() => box.style.opacity = .5));",
    body=BOX,
)
feature(
    "transition-click",
    f"const box = {AT}; box.style.transition = 'width .4s'; box.ontransitionend = () => say('end');"
    " button.onclick = () => { say('clicked'); box.style.width = '120px'; };",
    body=BOX,
    button=True,
)
feature(
    "transition-cancelled",
    f"const box = {AT}; box.style.transition = 'width 1s'; box.ontransitioncancel = () =>"
    " say('cancel'); box.offsetWidth; box.style.width = '90px'; setTimeout(() => box.style.display"
    " = 'none', 200);",
    body=BOX,
)
feature(
    "transition-starting-style",
    f"{AT}.ontransitionend = () => say('end');",
    body=BOX,
    head=(
        "<style>#s-@name .box { opacity: 1; transition: opacity .3s; @starting-style { opacity: 0 }"
        " }</style>"
    ),
)
feature(
    "animation",
    f"const box = {AT}; for (const kind of ['start', 'iteration', 'end'])"
    " box.addEventListener('animation' + kind, () => say(kind));",
    body=BOX,
    head=(
        "<style>@keyframes k1 { to { width: 90px } } #s-@name .box { animation: k1 .2s 3 }</style>"
    ),
)
feature(
    "animation-against-timers",
    f"{AT}.onanimationend = () => say('end'); for (const t of [200, 240, 260, 400]) setTimeout(()"
    " => say(t), t);",
    body=BOX,
    head="<style>@keyframes k2 { to { width: 90px } } #s-@name .box { animation: k2 .25s }</style>",
)
feature(
    "animation-long",
    f"{AT}.onanimationend = () => say('end'); setTimeout(() => say('3000'), 3000);",
    body=BOX,
    head=(
        "<style>@keyframes k3 { to { margin-left: 90px } } #s-@name .box { animation: k3 2.4s"
        " }</style>"
    ),
)
feature(
    "animation-endless",
    f"setTimeout(() => say({AT}.offsetWidth > 50), 300);",
    body=BOX,
    head=(
        "<style>@keyframes k4 { to { width: 90px } } #s-@name .box { animation: k4 1s linear"
        " infinite }</style>"
    ),
)
feature(
    "animation-compositor",
    f"{AT}.onanimationend = () => say('end');",
    body=BOX,
    head=(
        "<style>@keyframes k5 { to { transform: translateX(90px) } } #s-@name .box { animation: k5"
        " .5s }</style>"
    ),
)
feature(
    "animation-script",
    f"const a = {AT}.animate([{{opacity: 0}}, {{opacity: 1}}], 300); a.ready.then(() =>"
    " say('ready')); await a.finished; say('finished');",
    body=BOX,
)
feature(
    "animation-script-controlled",
    f"const a = {AT}.animate({{left: ['0px', '9px']}}, 500); a.pause(); await a.ready;"
    " say('paused'); a.currentTime = 400; a.play(); a.onfinish = () => say('finish');",
    body=BOX,
)
feature(
    "animation-current-time",
    f"const a = {AT}.animate({{left: ['0px', '9px']}}, 1000); setTimeout(() =>"
    " say(Math.round(a.currentTime / 20)), 200);",
    body=BOX,
)
feature(
    "animation-timeline-time",
    "setTimeout(() => say(Math.round(document.timeline.currentTime / 50)), 500);",
)
feature(
    "animation-svg",
    "here.querySelector('animate').addEventListener('endEvent', () => say('end'));",
    body=(
        "<svg width=50 height=20><rect width=10 height=10><animate attributeName=width to=40"
        ' dur=".3s" fill=freeze /></rect></svg>'
    ),
)
feature(
    "scroll-driven",
    f"say({AT}.getAnimations().length);",
    body=BOX,
    head=(
        "<style>@keyframes k6 { to { width: 90px } } #s-@name .box { animation: k6 linear;"
        " animation-timeline: scroll() }</style>"
    ),
)
feature(
    "scroll-driven-view",
    f"const box = {AT}; box.onanimationstart = () => say('start'); box.onanimationend = () =>"
    " say('end');",
    body='<div style="height:900px"></div>' + BOX,
    head=(
        "<style>@keyframes k7 { to { width: 90px } } #s-@name .box { animation: k7 linear both;"
        " animation-timeline: view() }</style>"
    ),
)
feature(
    "container-query",
    f"const box = here.querySelector('p'); new ResizeObserver(() =>"
    f" say(getComputedStyle(box).color)).observe(box); setTimeout(() => here.style.width = '200px',"
    f" 150);",
    body="<p>text</p>",
    head=(
        "<style>#s-@name { container-type: inline-size } @container (max-width: 300px) { #s-@name p"
        " { color: red; height: 70px } }</style>"
    ),
)
feature(
    "content-visibility",
    "here.querySelector('.far').addEventListener('contentvisibilityautostatechange', event =>"
    " say(event.skipped));",
    body=(
        '<div style="height:1400px"></div><div class=far'
        ' style="content-visibility:auto;contain-intrinsic-size:100px">far</div>'
    ),
)
feature(
    "content-visibility-near",
    "here.querySelector('.near').addEventListener('contentvisibilityautostatechange', event =>"
    " say(event.skipped));",
    body='<div class=near style="content-visibility:auto;contain-intrinsic-size:100px">near</div>',
)
feature(
    "view-transition",
    "const t = document.startViewTransition(() => { here.append('moved'); say('update'); });"
    " t.ready.then(() => say('ready'), e => say('ready-' + e.name)); t.finished.then(() =>"
    " say('finished'));",
)
feature(
    "view-transition-click",
    "button.onclick = () => { const t = document.startViewTransition(() => here.append('moved'));"
    " t.finished.then(() => say('finished')); };",
    button=True,
)
feature(
    "smooth-scroll",
    "addEventListener('scrollend', () => say('end')); setTimeout(() => scrollTo({top: 700,"
    " behavior: 'smooth'}), 100);",
)
feature(
    "smooth-scroll-box",
    "const box = here.querySelector('div'); box.onscrollend = () => say(box.scrollTop);"
    " box.scrollTo({top: 200, behavior: 'smooth'});",
    body='<div style="height:60px;overflow:auto"><p style="height:600px">tall</p></div>',
)
feature("marquee", "setTimeout(() => say('later'), 400);", body="<marquee>moving</marquee>")
