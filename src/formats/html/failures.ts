import { attemptsByEvent } from '../../stream/journal/attempts.ts'
import { visibleText } from '../../util/visible-text.ts'
import { allAttemptLines } from '../stream/attempts.ts'
import { acknowledgedText, agoText, type HeaderOptions } from '../stream/header.ts'
import { failures, type ShownStream, timeOf } from '../stream/view.ts'
import { styleOf } from '../terminal/style.ts'
import { styled } from './cell.ts'
import { html, type Markup, multiline } from './markup.ts'
import { note } from './page.ts'

/** Every failed event with its whole message; `undefined` without any. */
export function failuresMarkup(shown: ShownStream, options: HeaderOptions): Markup | undefined {
  const failed = failures(shown)
  if (failed.length === 0) return undefined
  const attempts = attemptsByEvent(shown.transactions())
  const items = failed.map(event => {
    const message = event.msg || (attempts.get(event.id)?.at(-1)?.end?.message ?? '')
    const { glyph, style } = styleOf(event.status)
    const owner = event.lc.owner === undefined ? '' : `, worker ${visibleText(event.lc.owner)}`
    const attempt = Number(event.lc.attempt) > 1 ? `, attempt ${visibleText(event.lc.attempt ?? '')}` : ''
    const when = agoText(shown, timeOf(shown, event.timestamp), options)
    return html`<li>${styled(`${glyph} ${visibleText(event.status)}`, style)} <span class="id strong">${event.id}</span> <span class="strong">${event.name}</span><span class="dim">${when}${attempt}${owner}</span>${
      message === '' ? html` <span class="dim">without a message</span>` : html`<pre>${multiline(message)}</pre>`
    }</li>
`
  })
  const acknowledged = acknowledgedText(shown, options)
  return html`<ol class="list">
${items}</ol>
${acknowledged === undefined ? undefined : note(`acknowledged${acknowledged}`)}`
}

/** The attempts at events that were tried more than once; `undefined` without any. */
export function attemptsMarkup(shown: ShownStream, options: HeaderOptions): Markup | undefined {
  const lines = allAttemptLines(shown, options)
  if (lines.length === 0) return undefined
  return html`<ol class="list">
${lines.map(line => html`<li>${line}</li>\n`)}</ol>
`
}
