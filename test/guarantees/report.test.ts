import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Line } from './record.ts'
import { reportText, rowReports } from './report.ts'
import { ROWS, type RowId } from './rows.ts'
import { trustFiles } from './test-files.ts'

const NONE: ReadonlySet<RowId> = new Set()

const figures = (row: RowId): Line[] =>
  ROWS[row].figures.map(name => ({ row, size: 'ci', kind: 'figure', name, value: 0, limit: '0' }))
const control = (row: RowId, failed: boolean): Line => ({
  row,
  size: 'ci',
  kind: 'control',
  name: 'no fence',
  failed,
})

const injected = (count: number): Line => ({ row: 'checker', size: 'ci', kind: 'injected', name: 'mutants', count })
/** All required figures. */
const all: readonly Line[] = [...figures('checker'), control('checker', true), injected(7)]

const verdict = (lines: readonly Line[], failed = NONE) =>
  rowReports(lines, failed).find(({ id }) => id === 'checker')?.verdict

describe('a promise', () => {
  it('is kept with each of its figures, a negative control that failed, and faults that reached the code', () => {
    expect(verdict(all)).toBe('kept')
  })

  it('is open without a report, with a missing figure, or without a negative control', () => {
    expect(verdict([])).toBe('open')
    expect(verdict(all.slice(1))).toBe('open')
    expect(verdict([...figures('checker'), injected(7)])).toBe('open')
    expect(verdict([...figures('checker'), control('paused', true), injected(7)])).toBe('open')
  })

  it('is open if no fault reached the code, or not each of them', () => {
    expect(verdict([...figures('checker'), control('checker', true)])).toBe('open')
    expect(verdict([...all, injected(0)])).toBe('open')
  })

  it('is missed with a figure beyond its limit', () => {
    const told = (value: number | string, limit: string): Line[] => [
      ...all,
      { row: 'checker', size: 'ci', kind: 'figure', name: 'mutants caught', value, limit },
    ]
    expect(verdict(told(1, '0'))).toBe('missed')
    expect(verdict(told(1_001, 'at most 1 000, idle'))).toBe('missed')
    expect(verdict(told('1.5 (the slowest)', 'at most 1'))).toBe('missed')
    expect(verdict(told(999, 'at least 1 000'))).toBe('missed')
    expect(verdict(told(1_000, 'at least 1 000'))).toBe('kept')
    expect(verdict(told(1_000, 'at most 1000'))).toBe('kept')
    expect(verdict(told('7 of 7', 'all'))).toBe('kept')
    expect(verdict(told('11 of 11', '7 of one kind, 4 of another'))).toBe('kept')
  })

  it('is broken when a test of it failed, or a negative control passed', () => {
    expect(verdict(all, new Set<RowId>(['checker']))).toBe('broken')
    expect(verdict([...all, control('checker', false)])).toBe('broken')
  })
})

describe('the report', () => {
  it('has a line for every promise, reported or not, and names missing figures', () => {
    const text = reportText(rowReports([], NONE), 'Trust')
    for (const { promise } of Object.values(ROWS)) expect(text).toContain(`| ${promise} | open |`)
    expect(text).toContain('mutants caught: NOT TOLD')
    expect(text).toContain(`0 of ${Object.keys(ROWS).length} promises kept.`)
  })

  it('explains how to repeat a failure', () => {
    expect(reportText([], 'Trust', ['npx vitest run a.test.ts'])).toContain('\n    npx vitest run a.test.ts\n')
    expect(reportText([], 'Trust')).not.toContain('repeat')
  })

  it('shows untested promises, and the faults that reached the code', () => {
    const lines: Line[] = [
      { row: 'xml', size: 'ci', kind: 'skipped', name: 'against xmllint', why: 'it is not installed' },
      { row: 'xml', size: 'ci', kind: 'injected', name: 'mutants', count: 7 },
    ]
    const text = reportText(rowReports(lines, NONE), 'Trust')
    expect(text).toContain('Not tried: against xmllint: it is not installed.')
    expect(text).toContain('Reached the code: mutants 7.')
  })
})

describe('the promises', () => {
  const tests = trustFiles(fileURLToPath(new URL('../', import.meta.url)))

  it.each(Object.keys(ROWS) as RowId[])('%s: there are tests for it', id => {
    expect(tests.filter(({ rows }) => rows.includes(id))).not.toEqual([])
  })

  it('the tests with a large size that belong to none of them are run too', () => {
    const paths = tests.filter(({ rows }) => rows.length === 0).map(({ path }) => path)
    expect(paths).toContainEqual(expect.stringMatching(/stream.properties.undo\.test\.ts$/))
  })

  it.each(Object.entries(ROWS))('%s: the page about reliability has it', (_, { promise }) => {
    const page = readFileSync(new URL('../../docs/reliability.md', import.meta.url), 'utf8')
    expect(page.toLowerCase()).toContain(`| ${promise.toLowerCase()} |`)
  })
})
