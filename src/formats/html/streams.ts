import { visibleName } from '../../util/visible-text.ts'
import type { HeaderOptions } from '../stream/header.ts'
import { counted } from '../terminal/numbers.ts'
import { styled } from './cell.ts'
import { html, type Markup } from './markup.ts'
import { note, pageText } from './page.ts'
import { type PageStream, rootLook, streamMarkup } from './stream.ts'

/** What a page says about its making. */
export interface PageOrigin {
  /** The address of the store, without secrets. */
  readonly store: string
  readonly nowMs: number
}

/** A page of one or several streams. @param unread why others could not be read */
export function streamsPage(
  streams: readonly PageStream[],
  unread: readonly string[],
  { store, nowMs }: PageOrigin,
  options: HeaderOptions,
): string {
  const [only, ...others] = streams
  const isAlone = only !== undefined && others.length === 0 && unread.length === 0
  const title = isAlone ? visibleName(only.shown.name) : counted(streams.length, 'stream')
  const content = isAlone
    ? html`<main>${streamMarkup(only, options, { level: 1, key: 'stream-1' })}</main>`
    : html`<header class="top">
<h1>${title}</h1>
${unread.map(text => note(`? cannot be read: ${text}`))}
${contents(streams)}
</header>
<main>${streams.map((stream, at) => streamMarkup(stream, options, { level: 2, key: `stream-${at + 1}` }))}</main>`
  return pageText({ title, made: madeText({ store, nowMs }), content })
}

/** `Made 2026-11-23T14:00:00Z from sqlite:streams.db.` */
export function madeText({ store, nowMs }: PageOrigin): string {
  return `Made ${new Date(nowMs).toISOString().replace(/\.\d+/, '')} from ${store}.`
}

function contents(streams: readonly PageStream[]): Markup {
  const items = streams.map(({ shown }, at) => {
    const { glyph, style, word } = rootLook(shown)
    return html`<li><a href="#stream-${at + 1}">${visibleName(shown.name)}</a> ${styled(`${glyph} ${word}`, style)}</li>\n`
  })
  return html`<nav aria-label="Streams"><ol>
${items}</ol></nav>`
}
