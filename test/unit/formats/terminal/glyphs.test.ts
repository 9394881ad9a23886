import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { expect, it, vi } from 'vitest'
import { widthOf } from '../../../../src/formats/terminal/width.ts'

/** Loading the library takes longer than a whole `ls`. */
vi.mock('string-width', () => ({
  default: (text: string) => {
    throw new Error(`measured by the library: ${text}`)
  },
}))

/** Full-width signs that begin a formula in a spreadsheet, what Mermaid inserts, and what replaces a hostile character. */
const NOT_OURS = /[＝＋－＠ﬂ�]/u

it('no glyph that the program draws needs the library to be measured', async () => {
  const glyphs = new Set<string>()
  for await (const file of glob('src/**/*.{ts,tsx}')) {
    for (const [glyph] of readFileSync(file, 'utf8').matchAll(/[^\0-\u02ff]/gu)) glyphs.add(glyph)
  }
  expect([...glyphs]).toEqual(expect.arrayContaining(['✗', '†', '‖']))
  for (const glyph of glyphs) if (!NOT_OURS.test(glyph)) expect(widthOf(glyph)).toBe(1)
})
