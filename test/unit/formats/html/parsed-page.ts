import { SaxesParser } from 'saxes'

/** A page as a strict parser reads it. */
export interface ParsedPage {
  /** Names of all elements, in order. */
  readonly elements: readonly string[]
  /** `element@attribute` of all attributes, without duplicates. */
  readonly attributes: ReadonlySet<string>
  /** Values of one attribute. */
  values(name: string): readonly string[]
  /** The text of the body. */
  readonly text: string
}

/** Elements that HTML closes by itself. */
const VOID = /<(meta)\b([^>]*)>/g

/** Parses a page as XML: a tag that is not closed, or an attribute without quotes, is an error. */
export function parsePage(page: string): ParsedPage {
  const xml = page.replace('<!DOCTYPE html>\n', '').replace(VOID, '<$1$2/>')
  const elements: string[] = []
  const attributes = new Set<string>()
  const values = new Map<string, string[]>()
  const open: string[] = []
  let text = ''
  const parser = new SaxesParser()
  parser.on('error', error => {
    throw error
  })
  parser.on('opentag', ({ name, attributes: own }) => {
    elements.push(name)
    open.push(name)
    for (const [key, value] of Object.entries(own)) {
      attributes.add(`${name}@${key}`)
      values.set(key, [...(values.get(key) ?? []), value])
    }
  })
  parser.on('closetag', () => open.pop())
  parser.on('text', part => {
    if (open.includes('body')) text += part
  })
  parser.write(xml).close()
  return { elements, attributes, values: name => values.get(name) ?? [], text }
}
