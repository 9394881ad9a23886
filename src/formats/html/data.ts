import { visibleText } from '../../util/visible-text.ts'
import { dataOfStream, dataSizeText } from '../stream/data.ts'
import type { ShownStream } from '../stream/view.ts'
import { counted } from '../terminal/numbers.ts'
import { html, type Markup, multiline } from './markup.ts'
import { note } from './page.ts'

/** Inputs and results shown at most. */
const MAX_DATA = 100
/** Characters shown of each. */
const MAX_CHARACTERS = 800

/** The inputs and results with their beginnings; `undefined` without any. */
export function dataMarkup({ stream }: ShownStream): Markup | undefined {
  const all = dataOfStream(stream)
  if (all.length === 0) return undefined
  const items = all.slice(0, MAX_DATA).map(
    ({ kind, event, name, data }) =>
      html`<li><span class="strong">${kind === 'input' ? 'Input' : 'Result'}</span> of <span class="id">${event}</span> ${name} <span class="dim">${visibleText(data.type)}, ${dataSizeText(data)}</span>${beginning(data.text, data.base64 !== undefined)}</li>
`,
  )
  const more = all.length - MAX_DATA
  return html`<ol class="list">
${items}</ol>
${more > 0 ? note(`${counted(more, 'more input or result', 'more inputs and results')} left out; show -o json lists all.`) : undefined}`
}

function beginning(text: string | undefined, isBinary: boolean): Markup {
  if (text === undefined)
    return note(isBinary ? 'The content is not text.' : 'The content is kept beside the stream; event data prints it.')
  const characters = Array.from(text.slice(0, 2 * MAX_CHARACTERS))
  const isCut = characters.length > MAX_CHARACTERS || text.length > 2 * MAX_CHARACTERS
  const shown = isCut ? `${characters.slice(0, MAX_CHARACTERS).join('')}…` : text
  return html`<pre>${multiline(shown)}</pre>${isCut ? note('Only the beginning is shown.') : undefined}`
}
