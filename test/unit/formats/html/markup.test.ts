import fc from 'fast-check'
import { expect, it } from 'vitest'
import { escaped, html, multiline } from '../../../../src/formats/html/markup.ts'

it('escapes every text, and leaves markup as it is', () => {
  const inner = html`<b title="${'"><i>'}">${'<script>&'}</b>`
  expect(html`<p>${inner}${[inner]}${undefined}${3}</p>`.text).toBe(
    `<p>${'<b title="&#34;&#62;&#60;i&#62;">&#60;script&#62;&#38;</b>'.repeat(2)}3</p>`,
  )
})

it('shows control and bidirectional characters as the terminal does', () => {
  expect(escaped('a\u001b[31m\u202eb\u0000\n')).toBe('a␛[31m\\u{202e}b␀␊')
  expect(multiline('a\r\nb\tc\u202e').text).toBe('a\nb&#9;c\\u{202e}')
})

it('lets no character through that begins or ends markup', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      expect(escaped(text)).not.toMatch(/[<>"'`]|&(?!#\d+;)/)
      expect(multiline(text).text).not.toMatch(/[<>"'`]|&(?!#\d+;)/)
    }),
  )
})
