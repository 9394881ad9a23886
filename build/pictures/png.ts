import { Resvg } from '@resvg/resvg-js'
import { indexedPng } from './indexed-png.ts'

/** The first of these on the system is used. */
export const MONOSPACE = ['DejaVu Sans Mono', 'Menlo', 'Consolas', 'Liberation Mono', 'Noto Sans Mono', 'Courier New']

/** @throws if the system has no monospaced font */
export function monospaceFont(): string {
  const found = MONOSPACE.find(isMonospace)
  if (found === undefined) {
    throw new Error(`no font with characters of one width was found; any of these will do: ${MONOSPACE.join(', ')}`)
  }
  return found
}

/** A PNG of the picture, `zoom` pixels per unit. */
export function pngOf(svg: string, zoom: number): Uint8Array {
  const fitTo = { mode: 'zoom', value: zoom } as const
  const image = new Resvg(svg, { fitTo, font: { loadSystemFonts: true } }).render()
  return indexedPng(image) ?? image.asPng()
}

/** A missing font is replaced by any other one, so the rendered result is checked. */
function isMonospace(family: string): boolean {
  const ends = ['i', 'W'].map(character => inkEnd(family, character))
  const [thin, wide] = ends
  return thin !== undefined && wide !== undefined && Math.abs(thin - wide) < 0.5
}

/** The end of a mark after ten such characters. */
function inkEnd(family: string, character: string): number | undefined {
  const text = `<text x="0" y="50" font-size="20" font-family="${family}">${character.repeat(10)}|</text>`
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="500" height="100">${text}</svg>`
  const box = new Resvg(svg, { font: { loadSystemFonts: true } }).getBBox()
  return box === undefined ? undefined : box.x + box.width
}
