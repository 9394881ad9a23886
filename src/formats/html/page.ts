import { hash } from 'node:crypto'
import { html, type Markup } from './markup.ts'
import { STYLE } from './style.ts'

/** A page: its title, who made it from what, and its content. */
export interface Page {
  readonly title: string
  /** When and from which store the page was made: a sentence. */
  readonly made: string
  readonly content: Markup
}

/**
 * A page as one file, without scripts and without requests. Its policy allows nothing but its own style, so that a
 * browser would refuse a script or a request even if one got into it.
 */
export function pageText({ title, made, content }: Page): string {
  const body = html`<body>
${content}
<footer><p>${made} A page by leasectl: it does not change with the stream.</p></footer>
</body>
`
  return `${HEAD}${html`<title>${title}</title>`.text}\n<style>${STYLE}</style>\n</head>\n${body.text}</html>\n`
}

const POLICY = `default-src 'none'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; base-uri 'none'; form-action 'none'`

const HEAD = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
`

/** A part of a page with its heading. */
export function section(id: string, level: number, title: string, content: Markup): Markup {
  return html`<section aria-labelledby="${id}">
<h${level} id="${id}">${title}</h${level}>
${content}</section>
`
}

/** What the page leaves out, or another remark. */
export function note(text: string): Markup {
  return html`<p class="note">${text}</p>
`
}

/** Terms with their values; those without a value are left out. */
export function facts(all: readonly (readonly [term: string, value: Markup | undefined])[]): Markup {
  const shown = all.flatMap(([term, value]) =>
    value === undefined ? [] : [html`<div><dt>${term}</dt><dd>${value}</dd></div>\n`],
  )
  return html`<dl class="facts">
${shown}</dl>
`
}
