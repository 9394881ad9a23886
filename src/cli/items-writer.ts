import { API_VERSION, jsonText } from '../formats/json.ts'
import type { Output } from './output.ts'

/** One document with a list, written as its items come: what is held does not grow with their number. */
export interface ItemsWriter {
  /** Items as JSON on one line each. */
  write(items: readonly string[]): Promise<void>
  /** The fields that stand behind the items. */
  end(fields: { readonly [name: string]: unknown }): Promise<void>
}

/** A page of Azure's has 5 000 rows: as one text it would take megabytes. */
const ITEMS_AT_ONCE = 100

/** `{"apiVersion":…,"items":[…],…}` */
export function itemsWriter(output: Output): ItemsWriter {
  let first = true
  return {
    async write(items) {
      for (const part of parts(items)) {
        await output.text(`${first ? HEAD : ',\n'}${part.join(',\n')}`)
        first = false
      }
    },
    async end(fields) {
      const tail = Object.entries(fields).map(([name, value]) => `,${JSON.stringify(name)}:${jsonText(value, 0)}`)
      await output.text(`${first ? HEAD.trimEnd() : '\n'}]${tail.join('')}}\n`)
    },
  }
}

const HEAD = `{"apiVersion":${JSON.stringify(API_VERSION)},"items":[\n`

/** Texts that end with their line, a part at a time. */
export async function writeTexts(texts: readonly string[], output: Output): Promise<void> {
  for (const part of parts(texts)) await output.text(part.join(''))
}

function* parts(texts: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < texts.length; at += ITEMS_AT_ONCE) yield texts.slice(at, at + ITEMS_AT_ONCE)
}
