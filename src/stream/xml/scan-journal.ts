const OPEN = '  <lc:journal>\n'
const CLOSE = '  </lc:journal>\n'

const VALUE = '[^"<>&\\n]*(?:&(?:amp|lt|gt|quot|#x9|#xA|#xD);[^"<>&\\n]*)*'
const TX = tag('    <lc:tx', ['v', 'at', 'by', 'op', 'on', 'cmd', 'n', 'h', 'why', 'other'], '/?>')
const CHANGE = tag('<lc:change', ['event', 'from', 'to', 'how', 'owner', 'attempt', 'attr'], '/>')
const END_OF_TX = '</lc:tx>\n'

/** Attributes each at most once and in our order. Ids of commands hold no references. */
function tag(start: string, names: readonly string[], end: string): RegExp {
  const attributes = names.map(name => `(?: ${name}="${name === 'cmd' ? '[^"<>&\\n]*' : VALUE}")?`)
  return new RegExp(`${start}${attributes.join('')}${end}`, 'y')
}

/**
 * The journal at an offset of a text, in exactly the form in which it is written, and where it ends; an empty one
 * where there is none. `undefined` where one begins that has another form.
 */
export function endOfJournal(text: string, start: number): { readonly raw: string; readonly end: number } | undefined {
  if (!text.startsWith(OPEN, start)) return { raw: '', end: start }
  const first = start + OPEN.length
  let at = first
  while (!text.startsWith(CLOSE, at)) {
    const end = endOfEntry(text, at)
    if (end === undefined) return undefined
    at = end
  }
  if (at === first) return undefined
  // Entries stand at an indentation of four in the document and at none in the model.
  return { raw: text.slice(first + 4, at - 1).replaceAll('\n    <', '\n<'), end: at + CLOSE.length }
}

function endOfEntry(text: string, start: number): number | undefined {
  TX.lastIndex = start
  if (!TX.test(text)) return undefined
  let at = TX.lastIndex
  if (text[at - 2] === '/') return text[at] === '\n' ? at + 1 : undefined
  for (CHANGE.lastIndex = at; CHANGE.test(text); CHANGE.lastIndex = at) at = CHANGE.lastIndex
  return text.startsWith(END_OF_TX, at) ? at + END_OF_TX.length : undefined
}
