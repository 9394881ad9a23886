import type { EventData } from '../../stream/data.ts'
import { visibleText } from '../../util/visible-text.ts'
import { dataOfStream, dataSizeText } from '../stream/data.ts'
import type { ShownStream } from '../stream/view.ts'
import { counted, spacedCount } from '../terminal/numbers.ts'
import { html, type Markup, multiline } from './markup.ts'
import { note } from './page.ts'

/** Inputs and results shown at most. */
const MAX_DATA = 100

/**
 * The inputs and results: what stands in the document whole, of the others size and checksum and the command that prints
 * them. `undefined` without any.
 */
export function dataMarkup({ name: streamName, stream }: ShownStream): Markup | undefined {
  const all = dataOfStream(stream)
  if (all.length === 0) return undefined
  const items = all.slice(0, MAX_DATA).map(
    ({ kind, event, name, data }) =>
      html`<li><span class="strong">${kind === 'input' ? 'Input' : 'Result'}</span> of <span class="id">${event}</span> ${name} <span class="dim">${visibleText(data.type)}, ${dataSizeText(data)}</span>${contentMarkup(data, `event data ${wordOf(streamName)} ${wordOf(event)} --${kind}`)}</li>
`,
  )
  const more = all.length - MAX_DATA
  return html`<ol class="list">
${items}</ol>
${more > 0 ? note(`${counted(more, 'more input or result', 'more inputs and results')} left out; show -o json lists all.`) : undefined}`
}

function contentMarkup({ text, size, sha256, base64 }: EventData, command: string): Markup {
  if (text === undefined) {
    const where = base64 === undefined ? 'The content is kept beside the stream' : 'The content is not text'
    return html`<p class="note">${where}: ${spacedCount(size)} bytes, SHA-256 ${sha256.slice(0, 12)}…. <code>leasectl ${command} &gt; FILE</code> saves it.</p>
`
  }
  return html`<pre>${multiline(text)}</pre>`
}

/** A name as a word of a POSIX shell. */
function wordOf(name: string): string {
  const shown = visibleText(name)
  return /^[\w./:@%+=-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`
}
