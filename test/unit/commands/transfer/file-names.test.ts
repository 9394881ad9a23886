import { posix } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { filePathOf, nameOfPath } from '../../../../src/commands/transfer/file-names.ts'
import { RUNS } from '../../../support/arbitraries.ts'

const path = (name: string) => filePathOf(name, '.xml')

test.each([
  ['orders/4711', 'orders/4711.xml'],
  ['Überweisung/ä ö', 'Überweisung/ä ö.xml'],
  ['a.b', 'a.b.xml'],
  ['..', '%2E%2E.xml'],
  ['../../etc/passwd', '%2E%2E/%2E%2E/etc/passwd.xml'],
  ['/etc/passwd', '%_/etc/passwd.xml'],
  ['a//b', 'a/%_/b.xml'],
  ['a/', 'a/%_.xml'],
  ['', '%_.xml'],
  ['C:\\x', 'C%3A%5Cx.xml'],
  ['50%', '50%25.xml'],
  ['%2E', '%252E.xml'],
  [' a /b.', '%20a%20/b%2E.xml'],
  ['.leasectl/x', '%2Eleasectl/x.xml'],
  ['what?<is>|"this"*', 'what%3F%3Cis%3E%7C%22this%22%2A.xml'],
  ['a\u0000b\u001b[31m\u202e', 'a%00b%1B[31m%E2%80%AE.xml'],
  ['con', '%63on.xml'],
  ['NUL.txt/COM1', '%4EUL.txt/%43OM1.xml'],
  ['console', 'console.xml'],
  ['a.xml/b', 'a%2Exml/b.xml'],
  ['a.JSON/b.mmd', 'a%2EJSON/b.mmd.xml'],
] as const)('the path of %j', (name, wanted) => {
  expect(path(name)).toBe(wanted)
  expect(nameOfPath(wanted, '.xml')).toBe(name)
})

test('a segment that is too long for a file system becomes several, and is restored', () => {
  for (const name of [
    'x'.repeat(1024),
    `${'ä'.repeat(300)}/b`,
    '%'.repeat(70),
    '.'.repeat(201),
    ` ${'x'.repeat(199)} /b`,
  ]) {
    expect(path(name).split('/').length).toBeGreaterThan(name.split('/').length)
    expect(nameOfPath(path(name), '.xml')).toBe(name)
  }
})

test('a short segment is kept in one piece', () => {
  expect(path('x'.repeat(200))).toBe(`${'x'.repeat(200)}.xml`)
})

test('streams of which one is below the other have adjacent paths', () => {
  expect(path('a.xml/b').startsWith(`${path('a')}/`)).toBe(false)
  expect(filePathOf('a.mmd/b', '.mmd').startsWith(`${filePathOf('a', '.mmd')}/`)).toBe(false)
})

describe('a path that a user chose', () => {
  test('is read with its escapes', () => {
    expect(nameOfPath('orders%2F4711.XML', '.xml')).toBe('orders/4711')
  })

  test.each(['a', 'a.json', 'a%zz.xml', 'a%.xml', 'a%ff.xml', '../a.xml', './a.xml', 'a//b.xml', '.xml', 'a%-.xml'])(
    'is not a name: %s',
    given => {
      expect(nameOfPath(given, '.xml')).toBeUndefined()
    },
  )
})

/** Names with more dangerous characters than random ones. */
const aName = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '/',
        '//',
        '.',
        '..',
        ' ',
        '%',
        '%2F',
        '%_',
        '%-',
        'con',
        'NUL.',
        'a.xml',
        '.json',
        '\\',
        '\u0000',
      ),
      fc.string({ unit: 'grapheme', minLength: 150, maxLength: 300 }),
    ),
    { maxLength: 6 },
  )
  .map(parts => parts.join(''))

describe('for any name', () => {
  test('the path converts back to the name', () => {
    fc.assert(
      fc.property(aName, fc.constantFrom('.xml' as const, '.json' as const, '.mmd' as const), (name, extension) => {
        expect(nameOfPath(filePathOf(name, extension), extension)).toBe(name)
      }),
      { numRuns: RUNS },
    )
  })

  test('the path stays in its folder, with segments that every file system accepts', () => {
    fc.assert(
      fc.property(aName, name => {
        const segments = path(name).split('/')
        expect(posix.join('/target', path(name))).toBe(`/target/${path(name)}`)
        for (const [at, segment] of segments.entries()) {
          const last = at === segments.length - 1
          expect(Buffer.byteLength(segment)).toBeLessThanOrEqual(216)
          expect(segment).toMatch(/^[^\u0000-\u001f\u007f\\:*?"<>|/. ]/)
          expect(segment).not.toMatch(/[. ]$|[\u0000-\u001f\u007f\\:*?"<>|]/)
          expect(segment).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d) *(\.|$)/i)
          if (!last) expect(segment).not.toMatch(/\.(xml|json|mmd)$/i)
        }
      }),
      { numRuns: RUNS },
    )
  })

  test('two names never have the same path', () => {
    fc.assert(
      fc.property(aName, aName, (a, b) => {
        expect(path(a) === path(b)).toBe(a === b)
      }),
      { numRuns: RUNS },
    )
  })
})
