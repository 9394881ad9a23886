import { readdirSync, readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { exitOf, exitOfRefusal } from '../../src/cli/exit-codes.ts'
import { jsonDocument } from '../../src/formats/json.ts'
import { jobJson } from '../../src/formats/stream/json.ts'
import { shownStream } from '../../src/formats/stream/view.ts'
import { readStream } from '../../src/ops/read-stream.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { startServing } from '../support/serving.ts'
import { allCommands } from '../unit/commands/support.ts'
import { hookDocuments } from './hook-documents.ts'
import { CASES } from './json-cases.ts'
import { formatOf, runCase } from './json-run.ts'
import { fieldsOf, markFields, withOneMore } from './json-walk.ts'
import { everything } from './json-world.ts'
import { faultsOf, schemaNames, schemaText } from './schemas.ts'

/** The last printed document of each schema, and the descriptions of all printed fields. */
const used = new Map<string, unknown>()
const seen = new Set<object>()

function check(schema: string, document: unknown): void {
  expect(faultsOf(schema, document), JSON.stringify(document, null, 1)).toEqual([])
  used.set(schema, document)
  markFields(schemaText(schema), document, seen)
}

describe('printed JSON is described', () => {
  const named = CASES.map(one => [[one.argv.join(' '), ...one.before].join(' after '), one] as const)

  test.each(named)('%s', async (_, { schema, argv, ...one }) => {
    const { ran, documents, errors, runLines } = await runCase({ schema, argv, ...one })
    expect(ran.exit, ran.stderr).toBe(one.exit)
    if (schema === undefined) expect(ran.stdout).toBe('')
    else for (const document of documents) check(schema, document)
    if (schema !== undefined && formatOf(argv) !== 'ndjson') expect(documents).toHaveLength(1)
    expect(errors, ran.stderr).toHaveLength(one.errors)
    for (const error of errors) check('error', error)
    for (const line of runLines) check('run-line', line)
  })

  test('input for programs is described', async () => {
    const { store } = await everything()
    for (const name of ['open', 'failed', 'done', 'foreign', 'odd']) {
      const view = await readStream(store, name)
      for (const event of view?.stream.events ?? [])
        if (view !== undefined) check('job', JSON.parse(jsonDocument(jobJson(shownStream(view), event))))
    }
  })

  test('input for hooks is described', async () => {
    const documents = await hookDocuments()
    expect(documents.length).toBeGreaterThan(8)
    for (const document of documents) check('hook', document)
  })

  test('answers of a server of inboxes are described', async () => {
    const { server, url } = await startServing(openMemoryStore())
    const answer = async (body: string, type: string) => {
      const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': type } })
      return response.json()
    }
    check('inbox-accepted', await answer('{"id":"a"}', 'application/json'))
    check('inbox-not-accepted', await answer('1', 'text/plain'))
    check('inbox-not-accepted', await answer('{"id":"a"}\n1\n', 'application/x-ndjson'))
    await server.stop()
    const both = await startServing(openMemoryStore(), { also: openMemoryStore() })
    const init = { method: 'POST', body: '{"id":"a"}', headers: { 'content-type': 'application/json' } }
    check('inbox-accepted', await (await fetch(both.url, init)).json())
    await both.server.stop()
  })
})

describe('the table is complete', () => {
  test('every command that prints JSON, as lines or as one document, is in it', () => {
    const tabled = CASES.map(({ argv }) => ({ words: argv.join(' '), format: formatOf(argv) }))
    const missing = allCommands().flatMap(command =>
      formatsOf(command)
        .map(format => ({ path: pathOf(command), format }))
        .filter(
          ({ path, format }) => !tabled.some(one => one.format === format && `${one.words} `.startsWith(`${path} `)),
        )
        .map(({ path, format }) => `${path} -o ${format}`),
    )
    expect(missing).toEqual([])
  })

  test('every schema describes printed JSON', () => {
    expect(schemaNames().filter(name => name !== 'parts' && !used.has(name))).toEqual([])
  })

  test('every described field is printed', () => {
    const unseen = schemaNames().flatMap(name =>
      fieldsOf(schemaText(name)).flatMap(({ key, schema }) => (seen.has(schema) ? [] : [`${name}: ${key}`])),
    )
    expect(unseen).toEqual([])
  })

  test('every family of errors is in it', () => {
    const exits = new Set(CASES.map(({ exit }) => exit))
    expect([...exits].sort((a, b) => a - b)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 124, 125, 126, 127, 130,
    ])
  })
})

/** The values of `-o` that schemas describe. A group with an action of its own reads it itself. */
function formatsOf(command: Command): string[] {
  const parser: unknown = command.options.find(option => option.attributeName() === 'output')?.parseArg
  const isGroup = command.commands.length > 0
  if (isGroup) return command.registeredArguments.length > 0 ? ['json'] : []
  const words = typeof parser === 'function' && 'words' in parser ? (parser.words as readonly string[]) : []
  return words.filter(word => word === 'json' || word === 'ndjson' || word === 'yaml')
}

function pathOf(command: Command): string {
  return command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim()
}

describe('the schemas', () => {
  test.each(schemaNames())('%s has its name as its id, and a title', name => {
    const { $schema, $id, title, description } = schemaText(name)
    expect({ $schema, $id }).toEqual({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: `${name}.schema.json`,
    })
    expect(title).toEqual(expect.any(String))
    expect(description).toMatch(/\.$/)
  })

  test('every field has a description, its own or that of its reference', () => {
    const bare = schemaNames().flatMap(name => fieldsOf(schemaText(name)))
    expect(bare.filter(({ schema }) => !('description' in schema || '$ref' in schema))).toEqual([])
  })

  test('an undescribed field is an error here at any depth, and none for readers', () => {
    const unnoticed = [...used].flatMap(([name, document]) =>
      withOneMore(document).filter(more => faultsOf(name, more).length === 0),
    )
    expect(unnoticed).toEqual([])
    const closed = schemaNames().filter(name => /"\w+Properties":false/.test(JSON.stringify(schemaText(name))))
    expect(closed).toEqual([])
  })
})

describe('the codes of errors', () => {
  const { $defs } = schemaText('parts') as {
    $defs: Record<string, { anyOf: { const?: string; description: string }[] }>
  }
  const codesOf = (name: string) =>
    ($defs[name]?.anyOf ?? []).flatMap(({ const: code, description }) => (code ? [{ code, description }] : []))
  const errors = codesOf('errorCode')
  const findings = codesOf('findingCode')
  const known = new Set(
    [...errors, ...findings, ...codesOf('serveCode'), ...codesOf('deadLetterCode')].map(({ code }) => code),
  )

  test('are described once each', () => {
    const codes = errors.map(({ code }) => code)
    expect(codes.filter((code, at) => codes.indexOf(code) < at)).toEqual([])
  })

  test('are all described, including those of findings', () => {
    expect(codesInSource().filter(code => !known.has(code))).toEqual([])
  })

  test('that are described exist', () => {
    const source = sources().join('\n')
    expect([...known].filter(code => !source.includes(`'${code}'`) && !source.includes(`${code}:`))).toEqual([])
  })

  test('are listed with their exit codes', () => {
    const own = ['run-file', 'batch-incomplete', 'unsound', 'spans-refused']
    const wrong = errors.filter(({ code, description }) => {
      const exits = [exitOf(code), exitOfRefusal(code)]
      return !own.includes(code) && !exits.some(exit => description.startsWith(`Exit ${exit}.`))
    })
    expect(wrong).toEqual([])
  })
})

/** Every field called code: of errors, problems, refusals and findings. */
function codesInSource(): string[] {
  const codes = sources().flatMap(text => [
    ...between(text, /const EXIT_OF[^{]*= \{(.*?)\n\}/gs).flatMap(body => between(body, /^ {2}'?([a-z-]+)'?:/gm)),
    ...between(text, /export type RefusalCode =(.*?)\n\n/gs).flatMap(body => between(body, /'([a-z-]+)'/g)),
    ...between(text, /\b(?:problem|refuse)\(\s*'([a-z-]+)'/g),
    ...between(text, /\bcode(?:: | = )([^,;(\n]*)/g).flatMap(value =>
      between(value, /(?<![=] )'([a-z]+(?:-[a-z]+)*)'(?! in )/g),
    ),
  ])
  return [...new Set(codes)].filter(code => code !== 'sound')
}

function between(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found)
}

let texts: string[] | undefined

function sources(): string[] {
  const folder = new URL('../../src/', import.meta.url)
  texts ??= readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts'))
    .map(name => readFileSync(new URL(name, folder), 'utf8'))
  return texts
}
