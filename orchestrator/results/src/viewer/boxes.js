// The ids of elements on the picture: of the one under the mouse, or of the one whose line in the
// observation is under it.
(() => {
  const shown = document.createElement('i');
  const label = document.createElement('b');
  shown.className = 'box';
  shown.append(label);

  const known = new Map();
  const boxes = shot => known.get(shot) ?? known.set(shot, Object.entries(JSON.parse(shot.dataset.boxes))).get(shot);
  const line = (step, bid) => step.querySelector('.tree pre')?.textContent.split('\n').find(text => text.trimStart().startsWith(`[${bid}]`));
  const hide = () => shown.remove();
  const show = (shot, [bid, [left, top, width, height]]) => {
    const { width: across, height: down } = shot.querySelector('img').attributes;
    const percent = (part, whole) => `${(part * 100) / Number(whole.value)}%`;
    Object.assign(shown.style, { left: percent(left, across), top: percent(top, down), width: percent(width, across), height: percent(height, down) });
    shown.classList.toggle('low', top * 12 < Number(down.value));
    shown.classList.toggle('late', left * 2 > Number(across.value));
    const text = shot.classList.contains('later') ? null : line(shot.closest('.step'), bid);
    label.textContent = text ? text.trim().slice(0, 80) : `[${bid}]`;
    if (shown.parentNode !== shot) shot.append(shown);
  };

  // The smallest element under the mouse: it is in all the others.
  const underMouse = (shot, event) => {
    const place = shot.getBoundingClientRect();
    const scale = Number(shot.querySelector('img').getAttribute('width')) / place.width;
    const [x, y] = [(event.clientX - place.left) * scale, (event.clientY - place.top) * scale];
    const hit = boxes(shot).filter(([, [left, top, width, height]]) => x >= left && y >= top && x < left + width && y < top + height);
    return hit.sort(([, a], [, b]) => a[2] * a[3] - b[2] * b[3])[0];
  };
  // The text of the line under the mouse.
  const lineAt = event => {
    const position = document.caretPositionFromPoint?.(event.clientX, event.clientY);
    const range = position ? null : document.caretRangeFromPoint?.(event.clientX, event.clientY);
    const [node, at] = position ? [position.offsetNode, position.offset] : [range?.startContainer, range?.startOffset];
    if (node?.nodeType !== Node.TEXT_NODE) return '';
    const text = node.data;
    const end = text.indexOf('\n', at);
    return text.slice(text.lastIndexOf('\n', at - 1) + 1, end < 0 ? text.length : end);
  };

  document.addEventListener('mousemove', event => {
    const shot = event.target.closest?.('.shot[data-boxes]');
    if (shot) {
      const found = underMouse(shot, event);
      return found ? show(shot, found) : hide();
    }
    const own = event.target.closest?.('pre') && event.target.closest('.step')?.querySelector('.shot[data-boxes]:not(.later)');
    const bid = own && /\[(\w+)\]/.exec(lineAt(event))?.[1];
    const found = bid && boxes(own).find(([name]) => name === bid);
    return found ? show(own, found) : hide();
  });
  document.addEventListener('mouseleave', hide);
})();
