import { jsonDocument } from '../../formats/json.ts'
import { exportJson } from '../../formats/stream/export-json.ts'
import { mermaidOf } from '../../formats/stream/mermaid.ts'
import { shownStream } from '../../formats/stream/shown-stream.ts'
import type { StreamView } from '../../ops/read-stream.ts'
import type { Extension } from '../transfer/file-names.ts'
import type { DocumentFormat } from './target.ts'

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
