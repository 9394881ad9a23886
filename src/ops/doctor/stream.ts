import type { StreamSnapshot } from '../../store/store.ts'
import type { StreamDocument } from '../../stream/document.ts'
import type { BadDocument } from '../../stream/errors.ts'
import { commandWords } from '../../util/strings.ts'
import type { StreamView } from '../read-stream.ts'
import { documentFindings } from './document.ts'
import { examine } from './examined-stream.ts'
import { bounded, type Finding } from './finding.ts'
import { gateFindings, sessionFindings } from './gates.ts'
import { progressFindings } from './progress.ts'
import { structureFindings } from './structure.ts'
import { suspensionFindings } from './suspension.ts'
import { timeFindings } from './times.ts'

export type { Finding, Severity } from './finding.ts'

/** The findings about a readable stream, worst first, at most 20 of each kind; empty for a sound one. */
export function streamFindings({ stored, document, nowMs }: StreamView): readonly Finding[] {
  return bounded(found(stored, document, nowMs))
}

function* found(stored: StreamSnapshot, document: StreamDocument, nowMs: number): Generator<Finding> {
  const [root] = document.events
  if (root === undefined) {
    yield notStarted(stored)
    return
  }
  const subject = examine(stored, document, root, nowMs)
  yield* structureFindings(subject)
  yield* progressFindings(subject)
  yield* gateFindings(subject)
  yield* sessionFindings(subject)
  yield* suspensionFindings(subject)
  yield* timeFindings(subject)
  yield* documentFindings(subject)
}

function notStarted({ name, size }: StreamSnapshot): Finding {
  return {
    severity: 'info',
    code: 'not-started',
    subject: '',
    message: size === 0 ? 'it has 0 bytes: a placeholder for a stream' : 'the document holds no event yet',
    command: commandWords(['init'], [name]),
  }
}

/** The finding for a document that cannot be parsed. */
export function unreadableFinding(name: string, { what, hint }: BadDocument): Finding {
  return {
    severity: 'error',
    code: 'unreadable',
    subject: '',
    message: `the document cannot be read: ${what}`,
    hint: hint ?? 'It is never overwritten. Repair it, or restore an earlier copy.',
    command: commandWords(['show'], [name], ['-o', 'xml']),
  }
}
