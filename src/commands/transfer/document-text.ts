import { exportJson } from '../../formats/export-json.ts'
import type { Extension } from '../../formats/file-names.ts'
import { jsonDocument } from '../../formats/json.ts'
import { mermaidOf } from '../../formats/mermaid.ts'
import type { StreamView } from '../../ops/read-stream.ts'
import { shownStream } from '../shown-stream.ts'
import type { DocumentFormat } from './export-target.ts'

export const EXTENSION_OF: { readonly [Format in DocumentFormat]: Extension } = {
  xml: '.xml',
  json: '.json',
  mermaid: '.mmd',
}

/** A stream as one document. Of XML it is the stored one, byte by byte. */
export function documentOf(view: StreamView, format: DocumentFormat): Uint8Array {
  switch (format) {
    case 'xml':
      return view.stored.body
    case 'json':
      return Buffer.from(jsonDocument(exportJson(shownStream(view), view)))
    case 'mermaid':
      return Buffer.from(mermaidOf(shownStream(view)))
    default:
      return format satisfies never
  }
}
