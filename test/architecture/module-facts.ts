import { dirname, join } from 'node:path/posix'
import { parseAst } from 'rolldown/parseAst'

/** The imports of a source file, and the names it uses of the process and of randomness. */
export interface ModuleFacts {
  /** Path below `src/`. */
  readonly path: string
  /** Imported files below `src/`, types included. */
  readonly files: readonly string[]
  /** Files below `src/` that are loaded with this one: imported neither as types nor by `import()`. */
  readonly loads: readonly string[]
  /** Imported packages and `node:` modules, as written. */
  readonly packages: readonly string[]
  /** `process.env`, `Date.now`, …; `new Date` means one without arguments; a bare global has no dot. */
  readonly uses: readonly string[]
  /** Exported types, interfaces and classes. */
  readonly types: readonly string[]
  readonly lines: number
}

type Node = { readonly type: string } & Readonly<Record<string, unknown>>

/** Reads one source text by its syntax tree, so that comments and texts never count as code. */
export function moduleFacts(path: string, source: string): ModuleFacts {
  const nodes = [...walk(parseAst(source, { lang: path.endsWith('x') ? 'tsx' : 'ts' }, path))]
  const specifiers = [...new Set(nodes.flatMap(importedFrom))]
  const relative = specifiers.filter(specifier => specifier.startsWith('.'))
  return {
    path,
    files: relative.map(specifier => join(dirname(path), specifier)),
    loads: [...new Set(nodes.filter(isLoading).flatMap(importedFrom))]
      .filter(specifier => specifier.startsWith('.'))
      .map(specifier => join(dirname(path), specifier)),
    packages: specifiers.filter(specifier => !specifier.startsWith('.')),
    uses: [...new Set(nodes.flatMap(used))],
    types: [...new Set(nodes.flatMap(exportedType))],
    lines: source.trimEnd().split('\n').length,
  }
}

function* walk(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const item of value) yield* walk(item)
  if (!isNode(value)) return
  yield value
  for (const child of Object.values(value)) if (typeof child === 'object') yield* walk(child)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

const IMPORTING = [
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
]

function isLoading({ type, importKind, exportKind }: Node): boolean {
  if (type === 'ImportDeclaration') return importKind !== 'type'
  return (type === 'ExportNamedDeclaration' && exportKind !== 'type') || type === 'ExportAllDeclaration'
}

function importedFrom(node: Node): string[] {
  if (!IMPORTING.includes(node.type)) return []
  const { source } = node
  return isNode(source) && typeof source.value === 'string' ? [source.value] : []
}

const TYPES = ['ClassDeclaration', 'TSInterfaceDeclaration', 'TSTypeAliasDeclaration']

function exportedType({ type, declaration }: Node): string[] {
  if (type !== 'ExportNamedDeclaration' || !isNode(declaration) || !TYPES.includes(declaration.type)) return []
  const { id } = declaration
  return isNode(id) && typeof id.name === 'string' ? [id.name] : []
}

function used(node: Node): string[] {
  switch (node.type) {
    case 'MemberExpression':
      return isNode(node.object) ? [`${nameOf(node.object)}.${nameOf(node.property)}`] : []
    case 'VariableDeclarator':
      return isNode(node.id) ? destructured(node.id, nameOf(node.init)) : []
    case 'ImportDeclaration':
      return importedNames(node)
    case 'NewExpression':
      return Array.isArray(node.arguments) && node.arguments.length === 0 ? [`new ${nameOf(node.callee)}`] : []
    case 'CallExpression':
      return [nameOf(node.callee)]
    default:
      return []
  }
}

/** `const { env } = process` uses `process.env`. */
function destructured(pattern: Node, from: string): string[] {
  const properties = pattern.type === 'ObjectPattern' && Array.isArray(pattern.properties) ? pattern.properties : []
  return properties.filter(isNode).map(property => `${from}.${nameOf(property.key)}`)
}

/** `import { env } from 'node:process'` uses `process.env`. */
function importedNames(node: Node): string[] {
  const from = importedFrom(node)[0]?.replace(/^node:/, '') ?? ''
  const names = Array.isArray(node.specifiers) ? node.specifiers.filter(isNode) : []
  return names.map(specifier => `${from}.${nameOf(specifier.imported)}`)
}

function nameOf(value: unknown): string {
  if (!isNode(value)) return ''
  const name = value.name ?? value.value
  return typeof name === 'string' ? name : ''
}
