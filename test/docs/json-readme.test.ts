import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CASES } from './json-cases.ts'
import { formatOf } from './json-run.ts'
import { schemaNames } from './schemas.ts'

const README = readFileSync(new URL('../../docs/json/README.md', import.meta.url), 'utf8')

const GROUPS = ['context', 'event', 'inbox', 'lab', 'lease', 'runs', 'subscription', 'watchdog']

/** The statements of the page's table: a command prints a schema in a format. */
const told = README.split('\n')
  .filter(line => line.startsWith('| '))
  .flatMap(line => {
    const [which = '', json = '', ndjson = ''] = line.split(' |')
    const commands = [...which.matchAll(/`([^`]*)`/g)].flatMap(([, text = '']) => firstWords(text))
    return [...pairs(commands, 'json', json), ...pairs(commands, 'ndjson', ndjson)]
  })

/** `lease show renew` are commands of a group, `cancel abort` are two. */
function firstWords(text: string): string[] {
  const [first = '', ...others] = text.split(' ')
  return GROUPS.includes(first) ? [first] : [first, ...others].filter(word => !word.startsWith('-'))
}

function pairs(words: readonly string[], format: string, cell: string): string[] {
  const schemas = [...cell.matchAll(/\(([a-z-]+)\.schema\.json\)/g)].map(([, name = '']) => name)
  return words.flatMap(word => schemas.map(schema => `${word} -o ${format}: ${schema}`))
}

const printed = CASES.flatMap(({ argv, schema }) => {
  const format = formatOf(argv) === 'ndjson' ? 'ndjson' : 'json'
  return schema === undefined ? [] : [`${argv[0]} -o ${format}: ${schema}`]
})

test('the page describes the output of every command', () => {
  expect(told.length).toBeGreaterThan(40)
  expect([...new Set(printed)].filter(one => !told.includes(one))).toEqual([])
})

test('the statements of the page are true', () => {
  const commands = new Set(CASES.map(({ argv }) => argv[0]))
  const ofCommands = told.filter(one => commands.has(one.split(' ', 1)[0]))
  expect(ofCommands.filter(one => !printed.includes(one))).toEqual([])
})

test('every schema is linked, and every link has its schema', () => {
  const links = [...README.matchAll(/\(([a-z-]+)\.schema\.json\)/g)].map(([, name]) => name)
  expect([...new Set(links)].sort()).toEqual(schemaNames())
})
