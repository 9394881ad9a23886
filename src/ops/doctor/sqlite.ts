import type { SqliteFacts } from '../../store/facts.ts'
import { type Finding, sizeText } from './finding.ts'

const MIB = 1024 * 1024

/** Space that a commit may need for the write-ahead log. */
const NO_ROOM_BYTES = 16 * MIB
const LITTLE_ROOM_BYTES = 256 * MIB
/** Size to which the log shrinks without readers. */
const LONG_LOG_BYTES = 64 * MIB

/** Findings about a store in a file. */
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
    message: `SQLite ${sqliteVersion} of this Node can damage a file with several writers: writing is refused`,
    hint: 'Use Node 22.22.3, 24.15, 26 or later.',
  }
}

function* placeFindings({ network, freeBytes, path }: SqliteFacts): Generator<Finding> {
  if (network) {
    yield {
      severity: 'warning',
      code: 'network-file-system',
      subject: '',
      message: `${path} is on ${network}: locks of a network file system are not reliable, so the file may be damaged`,
      hint: 'Put it on a local disk, or use Azure Blob if several machines share the store.',
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
      message: `${path} does not exist, and this user cannot create it`,
      hint: 'Check the permissions of the folder, or name another file with --store.',
    }
  } else {
    const message = `${path} does not exist yet: the first write creates it`
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
      message: `the file has ${names} names (hard links): programs that use different names would lose each other's changes, so the file is not used`,
      hint: 'Remove all names but one: find / -xdev -samefile FILE shows them. A symbolic link is fine.',
    }
  }
  if ((mode & 0o002) !== 0) {
    yield {
      severity: 'warning',
      code: 'world-writable',
      subject: '',
      message: `every user of this machine can write the file (${mode.toString(8)})`,
      hint: 'Remove that permission: chmod o-w.',
    }
  }
  if (walSize > LONG_LOG_BYTES) {
    yield {
      severity: 'warning',
      code: 'long-log',
      subject: '',
      message: `the write-ahead log has ${sizeText(walSize)}: a long-running reader prevents a checkpoint`,
      hint: 'Find the program that keeps the file open, and stop it.',
    }
  }
  if (journalMode !== undefined && journalMode !== 'wal') {
    yield {
      severity: 'warning',
      code: 'not-wal',
      subject: '',
      message: `the journal mode is ${journalMode}, not wal: readers and writers block each other`,
      hint: 'It was changed. PRAGMA journal_mode = WAL sets it back.',
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
      hint: 'Stop the programs that use it and restore a backup; export saves the streams that are still readable.',
    }
  }
  if (faults?.length === 0)
    yield { severity: 'ok', code: 'file-check', subject: '', message: 'the file passed the full check' }
  if (unknown.faults === undefined) return
  yield {
    severity: 'warning',
    code: 'not-checked',
    subject: '',
    message: `the file could not be checked: ${unknown.faults}`,
  }
}
