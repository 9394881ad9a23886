import { describe, expect, test } from 'vitest'
import { indexedPng } from '../../../build/pictures/indexed-png.ts'
import { svgOf } from '../../../build/pictures/svg.ts'
import { type Cell, openTerminal } from '../../unit/tui/support/terminal.ts'

const OPTIONS = { title: 'leasectl top', fontFamily: 'Some Mono' }

/** The picture of a terminal of one row after these bytes. */
async function shown(bytes: string, columns = 20): Promise<Cell[][]> {
  const terminal = openTerminal({ columns, rows: 1 })
  terminal.stdout.write(bytes)
  return terminal.cells()
}

function texts(svg: string): string[] {
  return Array.from(svg.matchAll(/<text ([^>]*)>([^<]*)<\/text>/g), ([, , text = '']) => text)
}

describe('a picture of a screen', () => {
  test('has one run of text for each style, and none for blanks', async () => {
    const svg = svgOf(await shown('one two  \x1b[1;31mred\x1b[0m  end'), OPTIONS)
    expect(texts(svg)).toEqual(['leasectl top', 'one two', 'red', 'end'])
    expect(svg).toMatch(/fill="#e06c75" font-weight="bold"[^>]*>red/)
  })

  test('positions each run with its width, so that columns stay aligned', async () => {
    const svg = svgOf(await shown('a   \x1b[31mabcd'), OPTIONS)
    expect(svg).toContain('x="33.72" textLength="33.72"')
  })

  test('centers characters of other fonts in their cells', async () => {
    const svg = svgOf(await shown('ab✓漢c'), OPTIONS)
    expect(texts(svg)).toEqual(['leasectl top', 'ab', '✓', '漢', 'c'])
    expect(svg).toContain('x="21.08" text-anchor="middle"')
    expect(svg).toContain('x="33.72" text-anchor="middle"')
  })

  test('draws lines and blocks from edge to edge', async () => {
    const svg = svgOf(await shown('├─▄░'), OPTIONS)
    expect(texts(svg)).toEqual(['leasectl top'])
    expect(svg.match(/<path/g)).toHaveLength(2)
    expect(svg).toContain('height="9" fill="#d4d8df" shape-rendering')
    expect(svg).toContain('fill-opacity="0.25"')
  })

  test('shows inverse text on its own color', async () => {
    const svg = svgOf(await shown('\x1b[7mab'), OPTIONS)
    expect(svg).toMatch(/<rect x="0" y="0" width="16.86" height="18" fill="#d4d8df"/)
    expect(svg).toMatch(/fill="#14171d"[^>]*>ab/)
  })

  test('escapes texts that look like elements', async () => {
    expect(texts(svgOf(await shown('<a> & "b"'), OPTIONS))[1]).toBe('&lt;a&gt; &amp; &quot;b&quot;')
  })
})

describe('a PNG with a color table', () => {
  const pixels = (...colours: readonly (readonly number[])[]) => Uint8Array.from(colours.flat())

  test('is refused for transparent images, or for more than 256 colors', () => {
    expect(indexedPng({ width: 1, height: 1, pixels: pixels([1, 2, 3, 200]) })).toBeUndefined()
    const many = Array.from({ length: 257 }, (_, at) => [at & 255, at >> 8, 0, 255])
    expect(indexedPng({ width: 257, height: 1, pixels: pixels(...many) })).toBeUndefined()
    expect(indexedPng({ width: 256, height: 1, pixels: pixels(...many.slice(0, 256)) })).toBeDefined()
  })
})
