import { missingProblem } from '../../cli/outcome-problem.ts'
import { type Problem, UsageError } from '../../cli/problem.ts'
import { visibleText } from '../../stream/text.ts'
import { documentOf } from './documents.ts'
import { isCopied, type Loaded, load, unreadable } from './load.ts'
import type { ExportRequest } from './request.ts'
import type { DocumentFormat } from './target.ts'

/** One stream to stdout: byte by byte into a pipe or file, with its control characters made visible on a terminal. */
export async function exportToStdout(
  format: DocumentFormat,
  { store, names, output, runtime }: ExportRequest,
): Promise<Problem | undefined> {
  const name = await onlyOne(names, format)
  if (name === undefined) return undefined
  const loaded = await load(store, name, runtime.signal)
  if (loaded.kind === 'gone') return missingProblem(name)
  if (loaded.kind === 'unreadable' && !isCopied(loaded, format)) return unreadable(name, loaded.error, runtime).problem
  const bytes = bytesOf(loaded, format)
  if (!runtime.stdout.isTty) await output.text(bytes)
  else await output.lines(Buffer.from(bytes).toString('utf8').trimEnd().split(/\r?\n/).map(visibleText))
  if (loaded.kind === 'unreadable') {
    await output.say(`${visibleText(loaded.error.message)}; these are its bytes as they are stored`)
  }
  return undefined
}

function bytesOf(loaded: Exclude<Loaded, { readonly kind: 'gone' }>, format: DocumentFormat): Uint8Array {
  return loaded.kind === 'unreadable' ? loaded.stored.body : documentOf(loaded.view, format)
}

async function onlyOne(names: AsyncIterable<string>, format: DocumentFormat): Promise<string | undefined> {
  let only: string | undefined
  for await (const name of names) {
    if (only !== undefined) {
      throw new UsageError(`-o ${format} writes one stream to stdout, and these are several`, {
        hint: '--to FOLDER writes a file each.',
      })
    }
    only = name
  }
  return only
}
