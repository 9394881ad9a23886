import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type MutationReport, mutationScore } from './mutation-score.ts'
import type { Line } from './record.ts'
import { reportText, rowReports } from './report.ts'
import { ROWS, type RowId } from './rows.ts'
import { type TestFile, trustFiles } from './test-files.ts'

const USAGE = `npm run trust [-- --size ci|nightly] [--row ID]... [--report FILE]

Runs the tests of every promise in their nightly sizes and writes a report with each figure. Exit code 0 only if every
promise is kept: each figure told, each negative control failing, no test failing.`

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const MUTATION_REPORT = join(ROOT, 'coverage/stryker/mutation.json')

const INHERITED = { cwd: ROOT, stdio: 'inherit' } as const

interface Asked {
  readonly size: string
  readonly rows: readonly string[]
  readonly report: string
}

async function main(): Promise<number> {
  const asked = argumentsOf()
  if (asked === undefined) return 2
  const files = trustFiles(join(ROOT, 'test')).filter(({ rows }) => isAsked(rows, asked))
  const folder = mkdtempSync(join(tmpdir(), 'leasectl-trust-'))
  try {
    const startMs = Date.now()
    const failed = await runTests(files, asked, folder)
    const lines = [...linesIn(join(folder, 'trust.ndjson')), ...(await mutationLines(asked))]
    const reports = rowReports(lines, rowsOf(files, failed))
    const told = reports.filter(({ id }) => isAsked([id], asked))
    const minutes = Math.round((Date.now() - startMs) / 60_000)
    const heading = `Trust report, ${asked.size} sizes, ${new Date(startMs).toISOString()}, ${minutes} min`
    const again = [...failed].map(path => `LEASECTL_TRUST_SIZE=${asked.size} npx vitest run ${relative(ROOT, path)}`)
    writeFileSync(asked.report, reportText(told, heading, again))
    for (const line of again) console.log(`failed, repeat: ${line}`)
    console.log(`${told.filter(({ verdict }) => verdict === 'kept').length} of ${told.length} kept: ${asked.report}`)
    return failed.size === 0 && told.every(({ verdict }) => verdict === 'kept') ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function argumentsOf(): Asked | undefined {
  try {
    const { values } = parseArgs({
      options: {
        size: { type: 'string', default: 'nightly' },
        row: { type: 'string', multiple: true, default: [] },
        report: { type: 'string', default: 'trust-report.md' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
    const unknown = values.row.filter(row => !(row in ROWS))
    if (unknown.length > 0)
      console.error(`no such row: ${unknown.join(', ')}; there are ${Object.keys(ROWS).join(', ')}`)
    else if (!values.help && (values.size === 'ci' || values.size === 'nightly')) {
      return { size: values.size, rows: values.row, report: values.report }
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
  }
  console.error(USAGE)
  return undefined
}

function isAsked(rows: readonly string[], asked: Asked): boolean {
  return asked.rows.length === 0 || rows.some(row => asked.rows.includes(row))
}

/** The mutation score of the domain. It takes hours, so only the nightly sizes have it. */
async function mutationLines(asked: Asked): Promise<Line[]> {
  if (!isAsked(['domain'], asked)) return []
  const told = { row: 'domain', name: 'mutation score' } as const
  if (asked.size === 'ci') return [{ ...told, size: 'ci', kind: 'skipped', why: 'it takes hours: --size nightly' }]
  // Results of an earlier run are not figures of this one.
  rmSync(MUTATION_REPORT, { force: true })
  const code = await ended(
    spawn(process.execPath, [module('@stryker-mutator/core/bin/stryker.js'), 'run', '--force'], INHERITED),
  )
  if (code !== 0 || !existsSync(MUTATION_REPORT)) return []
  const score = mutationScore(JSON.parse(readFileSync(MUTATION_REPORT, 'utf8')) as MutationReport)
  const { percent, found, tried, ignored } = score
  const limit = `at least 85, ${found} of ${tried} mutants; ${ignored} of what runs on loading are left out`
  return [{ ...told, size: 'nightly', kind: 'figure', value: percent, limit }]
}

/** The files with a failed test, or that did not run at all; all of them after an error outside any file. */
async function runTests(files: readonly TestFile[], { size }: Asked, folder: string): Promise<ReadonlySet<string>> {
  const results = join(folder, 'tests.json')
  const paths = files.map(({ path }) => path)
  const flags = ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${results}`]
  const env = { ...process.env, LEASECTL_TRUST_SIZE: size, LEASECTL_TRUST_LOG: join(folder, 'trust.ndjson') }
  const code = await ended(
    spawn(process.execPath, [module('vitest/vitest.mjs'), ...flags, ...paths], { ...INHERITED, env }),
  )
  const failed = failedIn(results, paths)
  return code !== 0 && failed.size === 0 ? new Set(paths) : failed
}

function module(path: string): string {
  return join(ROOT, 'node_modules', path)
}

/** The exit code; `null` if a signal ended it. */
function ended(child: ChildProcess): Promise<number | null> {
  return new Promise(resolve => child.once('exit', resolve))
}

/** With no results at all, every file counts as failed. */
function failedIn(results: string, paths: readonly string[]): ReadonlySet<string> {
  try {
    const { testResults } = JSON.parse(readFileSync(results, 'utf8')) as {
      testResults: { name: string; status: string }[]
    }
    const passed = new Set(testResults.filter(({ status }) => status === 'passed').map(({ name }) => name))
    return new Set(paths.filter(path => !passed.has(path)))
  } catch {
    return new Set(paths)
  }
}

function rowsOf(files: readonly TestFile[], failed: ReadonlySet<string>): ReadonlySet<RowId> {
  return new Set(files.filter(({ path }) => failed.has(path)).flatMap(({ rows }) => rows))
}

function linesIn(log: string): Line[] {
  try {
    const lines = readFileSync(log, 'utf8').split('\n')
    return lines.filter(line => line !== '').map(line => JSON.parse(line) as Line)
  } catch {
    return []
  }
}

process.exitCode = await main()
