import { InvalidValue } from '../errors.ts'
import type { XmlNode } from './nodes.ts'

/** What fontoxpath asks of a document. A bucket says which nodes it needs; more may be given. */
interface DomFacade {
  getAllAttributes(node: XmlNode): readonly XmlNode[]
  getAttribute(node: XmlNode, name: string): string | null
  getChildNodes(node: XmlNode): readonly XmlNode[]
  getData(node: XmlNode): string
  getFirstChild(node: XmlNode): XmlNode | null
  getLastChild(node: XmlNode): XmlNode | null
  getNextSibling(node: XmlNode): XmlNode | null
  getPreviousSibling(node: XmlNode): XmlNode | null
  getParentNode(node: XmlNode): XmlNode | null
}

interface Fontoxpath {
  readonly ReturnType: { readonly ALL_RESULTS: number }
  readonly Language: { readonly XPATH_3_1_LANGUAGE: string }
  evaluateXPath(
    expression: string,
    context: XmlNode,
    facade: DomFacade,
    variables: null,
    returnType: number,
    options: {
      readonly language: string
      readonly namespaceResolver: (prefix: string) => string | null
      readonly logger: { readonly trace: (message: string) => void }
      readonly disableCache: boolean
    },
  ): unknown
}

/** Evaluates an expression on a node; returns the items of the result as fontoxpath gives them. @throws what it throws */
export type Evaluate = (expression: string, context: XmlNode, namespaces: ReadonlyMap<string, string>) => unknown[]

/**
 * The engine, loaded when it is first needed. Its own declarations would bring the types of a browser's whole DOM into the
 * program, where `name` and `event` are globals: hence the ones above, and a specifier that the compiler does not follow.
 *
 * XPath 3.1 only, so neither XQuery nor updates; `trace()` says nothing. Functions that read files or addresses it has none.
 */
export async function loadEngine(): Promise<Evaluate> {
  const { default: engine } = (await import('fontoxpath' as string)) as { readonly default: Fontoxpath }
  const { ReturnType, Language } = engine
  return (expression, context, namespaces) => {
    const items = engine.evaluateXPath(expression, context, boundedFacade(), null, ReturnType.ALL_RESULTS, {
      language: Language.XPATH_3_1_LANGUAGE,
      // In an expression a name without prefix is in no namespace, whatever the document declares.
      namespaceResolver: prefix => (prefix === '' ? null : (namespaces.get(prefix) ?? null)),
      logger: { trace: () => {} },
      disableCache: true,
    })
    return Array.isArray(items) ? items : [items]
  }
}

/** Enough for what looks at each event and its neighbours; what compares all with all of a large document ends here. */
const MAX_VISITS = 5_000_000

/** An expression is evaluated in one go, deaf to signals: counting what it looks at is what can end it. */
function boundedFacade(): DomFacade {
  let visits = 0
  const visit = <Value>(value: Value, count = 1): Value => {
    visits += count
    if (visits > MAX_VISITS) throw new InvalidValue(`it looks at more than ${MAX_VISITS} nodes; make it narrower`)
    return value
  }
  const sibling = ({ parent, index }: XmlNode, by: number) => visit(parent?.children[index + by] ?? null)
  return {
    getAllAttributes: node => visit(node.attributes(), node.attributes().length),
    getAttribute: (node, name) => visit(node.attributes().find(attribute => attribute.name === name)?.value ?? null),
    getChildNodes: node => visit(node.children, node.children.length),
    getData: node => visit(node.value),
    getFirstChild: node => visit(node.children[0] ?? null),
    getLastChild: node => visit(node.children.at(-1) ?? null),
    getNextSibling: node => sibling(node, 1),
    getPreviousSibling: node => sibling(node, -1),
    getParentNode: node => visit(node.parent ?? null),
  }
}
