import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SaxesParser } from 'saxes'

/** Another reader, for comparison. */
export interface Reference {
  readonly name: 'xmllint' | 'saxes'
  /** For each document whether it is refused. */
  rejects(documents: readonly Uint8Array[]): readonly boolean[]
}

/** libxml2 if it is installed, otherwise the parser that our reader is built on. */
export function openReference(): Reference {
  return spawnSync('xmllint', ['--version']).status === 0 ? XMLLINT : SAXES
}

/** The number of files per process. */
const BATCH = 1_000

const XMLLINT: Reference = {
  name: 'xmllint',
  rejects(documents) {
    const refused: boolean[] = []
    for (let at = 0; at < documents.length; at += BATCH) refused.push(...lint(documents.slice(at, at + BATCH)))
    return refused
  },
}

/** The exit code is one for all files: the messages name the file. */
function lint(documents: readonly Uint8Array[]): boolean[] {
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-lint-'))
  try {
    const files = documents.map((bytes, at) => {
      const file = `${at}.xml`
      writeFileSync(join(folder, file), bytes)
      return file
    })
    const options = { cwd: folder, encoding: 'latin1', maxBuffer: 1 << 30 } as const
    const { status, stderr } = spawnSync('xmllint', ['--noout', '--nonet', ...files], options)
    if (status === 0) return files.map(() => false)
    const said = new Set(Array.from(stderr.matchAll(ERROR), ([, file]) => file))
    return files.map(file => said.has(file))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** An unbound namespace is an error to it, and yet it accepts the document. */
const ERROR = /^(\d+\.xml):\d+: (?!namespace|validity)\S* ?error : /gm

const SAXES: Reference = {
  name: 'saxes',
  rejects: documents =>
    documents.map(bytes => {
      try {
        const text = new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes)
        const parser = new SaxesParser({ xmlns: true })
        parser.on('error', error => {
          throw error
        })
        parser.write(text).close()
        return !text.isWellFormed()
      } catch {
        return true
      }
    }),
}

function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
