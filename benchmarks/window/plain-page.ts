/**
 * The least that a page can do with a stream: it reads the provider's events and appends their text, once per frame, to an element that
 * scrolls to its end. No framework, no Markdown, no host.
 */
export const plainPage = `<!doctype html>
<meta charset="utf-8">
<title>Plain text</title>
<style>
  body { margin: 0; font: 13.5px/22px sans-serif; }
  #view { height: 760px; width: 560px; overflow: auto; }
  pre { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
</style>
<div id="view"><pre id="text"></pre></div>
<script>
  const view = document.getElementById('view');
  const text = document.getElementById('text');
  let pending = '';
  let isRequested = false;
  function draw() {
    isRequested = false;
    text.append(pending);
    pending = '';
    view.scrollTop = view.scrollHeight;
  }
  function take(event) {
    if (!event.startsWith('data: {')) return;
    pending += JSON.parse(event.slice(6)).choices[0]?.delta.content ?? '';
    if (isRequested) return;
    isRequested = true;
    requestAnimationFrame(draw);
  }
  async function run(model) {
    const response = await fetch('/v1/chat/completions', { method: 'POST', body: JSON.stringify({ model, stream: true }) });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = (rest + value).split('\\n\\n');
      rest = events.pop();
      events.forEach(take);
    }
  }
</script>`;
