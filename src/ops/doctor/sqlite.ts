import type { SqliteFacts } from '../../store/facts.ts'
import { type Finding, sizeText } from './finding.ts'

const MIB = 1024 * 1024

/** A commit may need so much for the write-ahead log before it is written back. */
const NO_ROOM_BYTES = 16 * MIB
const LITTLE_ROOM_BYTES = 256 * MIB
/** What the log is cut back to when nobody reads any more. */
const LONG_LOG_BYTES = 64 * MIB

/** What is to be said of a store in a file. */
export function* sqliteFindings(facts: SqliteFacts): Generator<Finding> {
  yield* versionFindings(facts)
  yield* placeFindings(facts)
  if (!facts.exists) {
    yield* notThere(facts)
    return
  }
  yield* fileFindings(facts)
  yield* checkFindings(facts)
}

function* versionFindings({ sqliteVersion, mayWrite }: SqliteFacts): Generator<Finding> {
  if (mayWrite) return
  yield {
    severity: 'error',
    code: 'sqlite-too-old',
    subject: '',
    message: `SQLite ${sqliteVersion} in this Node can damage a file that several programs write: writing is refused`,
    hint: 'Use Node 22.22.3, 24.15, 26 or later.',
  }
}

function* placeFindings({ network, freeBytes, path }: SqliteFacts): Generator<Finding> {
  if (network) {
    yield {
      severity: 'warning',
      code: 'network-file-system',
      subject: '',
      message: `${path} is on ${network}: locks of a network file system cannot be trusted, the file may be damaged`,
      hint: 'Put it on a local disk, or use Azure Blob where several machines share a store.',
    }
  }
  if (freeBytes === undefined || freeBytes >= LITTLE_ROOM_BYTES) return
  const full = freeBytes < NO_ROOM_BYTES
  yield {
    severity: full ? 'error' : 'warning',
    code: 'disk-full',
    subject: '',
    message: `${sizeText(freeBytes)} are free on the disk${full ? ': writes fail, or will soon' : ''}`,
    hint: 'Free some space.',
  }
}

function* notThere({ path, creatable }: SqliteFacts): Generator<Finding> {
  if (creatable === false) {
    yield {
      severity: 'error',
      code: 'not-permitted',
      subject: '',
      message: `${path} does not exist, and this user may not make it there`,
      hint: 'Check the rights of the folder, or name another file with --store.',
    }
  } else {
    const message = `${path} does not exist yet: the first write makes it`
    yield { severity: 'info', code: 'no-store-yet', subject: '', message }
  }
}

function* fileFindings(facts: SqliteFacts): Generator<Finding> {
  const { names = 1, mode = 0, walSize = 0, size, journalMode, synchronous } = facts
  if (names > 1) {
    yield {
      severity: 'error',
      code: 'hard-links',
      subject: '',
      message: `the file has ${names} names (hard links): programs that use different ones would lose each other's changes, so none is used`,
      hint: 'Remove all names but one: find / -xdev -samefile FILE shows them. A symbolic link is no second name.',
    }
  }
  if ((mode & 0o002) !== 0) {
    yield {
      severity: 'warning',
      code: 'world-writable',
      subject: '',
      message: `everybody on this machine can write the file (${mode.toString(8)})`,
      hint: 'Take that right away: chmod o-w.',
    }
  }
  if (walSize > LONG_LOG_BYTES) {
    yield {
      severity: 'warning',
      code: 'long-log',
      subject: '',
      message: `the write-ahead log has ${sizeText(walSize)}: some program reads for so long that it cannot be written back`,
      hint: 'Find the program that keeps the file open, and end it.',
    }
  }
  if (journalMode !== undefined && journalMode !== 'wal') {
    yield {
      severity: 'warning',
      code: 'not-wal',
      subject: '',
      message: `the journal mode is ${journalMode}, not wal: readers and writers wait for each other`,
      hint: 'Somebody changed it. PRAGMA journal_mode = WAL sets it again.',
    }
  }
  const parts = [
    ...(size === undefined ? [] : [sizeText(size)]),
    ...(journalMode === undefined ? [] : [`journal mode ${journalMode}`]),
    ...(synchronous === undefined ? [] : [`synchronous ${synchronous}`]),
  ]
  if (parts.length > 0) yield { severity: 'ok', code: 'file', subject: '', message: parts.join(', ') }
}

function* checkFindings({ faults, unknown }: SqliteFacts): Generator<Finding> {
  for (const fault of faults ?? []) {
    yield {
      severity: 'error',
      code: 'store-damaged',
      subject: '',
      message: `the file is damaged: ${fault}`,
      hint: 'Stop the programs that use it and restore it from a copy; export saves what can still be read.',
    }
  }
  if (faults?.length === 0)
    yield { severity: 'ok', code: 'file-check', subject: '', message: 'the whole file is sound' }
  if (unknown.faults === undefined) return
  yield {
    severity: 'warning',
    code: 'not-checked',
    subject: '',
    message: `the file could not be checked: ${unknown.faults}`,
  }
}
