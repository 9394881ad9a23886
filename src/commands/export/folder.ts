import type { Problem } from '../../cli/problem.ts'
import { isDiskFull } from '../transfer/files.ts'
import { SAME, type Transferred, undone } from '../transfer/outcome.ts'
import { openReport } from '../transfer/report.ts'
import { DEFAULT_CONCURRENCY, finished, transfer } from '../transfer/transfer.ts'
import { documentOf, EXTENSION_OF } from './documents.ts'
import { openFolderTarget, type WriteOutcome } from './folder-target.ts'
import { gone, isCopied, load, unreadable } from './load.ts'
import type { ExportRequest } from './request.ts'
import type { DocumentFormat } from './target.ts'

/** A file a stream, in folders as their names have them. Repeating it goes on: what is there alike is left. */
export async function exportToFolder(
  path: string,
  format: DocumentFormat,
  { store, names, options, output, runtime }: ExportRequest,
): Promise<Problem | undefined> {
  const folder = await openFolderTarget(path, {
    extension: EXTENSION_OF[format],
    replace: options.replace === true,
  })
  const report = openReport('text', options, output, runtime)
  let asStored = 0
  const work = async (name: string) => {
    const loaded = await load(store, name)
    if (loaded.kind === 'gone') return finished(gone(name))
    if (loaded.kind === 'unreadable' && !isCopied(loaded, format)) {
      return finished(unreadable(name, loaded.error, runtime))
    }
    const stored = loaded.kind === 'view' ? loaded.view.stored : loaded.stored
    const content = loaded.kind === 'view' ? documentOf(loaded.view, format) : stored.body
    if (loaded.kind === 'unreadable') asStored += 1
    const note = loaded.kind === 'unreadable' ? 'cannot be read, copied as it is' : ''
    return finished(outcomeOf(name, await folder.write(name, content, stored.modifiedMs), note))
  }
  const atOnce = options.concurrency ?? DEFAULT_CONCURRENCY
  const stopped = await transfer({ items: names, nameOf: name => name, work, atOnce }, report, runtime)
  if (asStored > 0) await output.say(`${asStored} cannot be read as event streams; their bytes were copied as they are`)
  return report.end(stopped)
}

function outcomeOf(stream: string, outcome: WriteOutcome, note: string): Transferred {
  switch (outcome.kind) {
    case 'written':
      return { stream, word: 'done', note: note === '' ? 'written' : note, place: outcome.path }
    case 'already':
      return { stream, word: 'already', note: note === '' ? SAME : note, place: outcome.path }
    case 'refused':
    case 'failed':
      return { ...undone(outcome.kind, stream, outcome.problem), stop: isDiskFull(outcome.problem) }
    default:
      return outcome satisfies never
  }
}
