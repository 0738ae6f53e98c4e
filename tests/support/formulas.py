"""Formulas as models write them: school, analysis, algebra, probability, physics, computing."""

from __future__ import annotations

_LINES = r"""
E = mc^2
x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}
a^2 + b^2 = c^2
\sin^2\theta + \cos^2\theta = 1
\frac{d}{dx} x^n = n x^{n-1}
\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}
\sum_{n=1}^{\infty} \frac{1}{n^2} = \frac{\pi^2}{6}
\lim_{x \to 0} \frac{\sin x}{x} = 1
e^{i\pi} + 1 = 0
\nabla \cdot \mathbf{E} = \frac{\rho}{\varepsilon_0}
\nabla \times \mathbf{B} = \mu_0\mathbf{J} + \mu_0\varepsilon_0\frac{\partial\mathbf{E}}{\partial t}
i\hbar \frac{\partial}{\partial t} \Psi = \hat{H} \Psi
P(A \mid B) = \frac{P(B \mid A)\,P(A)}{P(B)}
\binom{n}{k} = \frac{n!}{k!(n-k)!}
\mathbb{E}[X] = \sum_x x\,p(x)
\operatorname{Var}(X) = \mathbb{E}[X^2] - (\mathbb{E}[X])^2
f(x) = \frac{1}{\sigma\sqrt{2\pi}} e^{-\frac{1}{2}\left(\frac{x-\mu}{\sigma}\right)^2}
\begin{pmatrix} a & b \\ c & d \end{pmatrix}
\begin{bmatrix} 1 & 0 & 0 \\ 0 & 1 & 0 \\ 0 & 0 & 1 \end{bmatrix}
\det \begin{vmatrix} a & b \\ c & d \end{vmatrix} = ad - bc
\begin{cases} x & \text{if } x \ge 0 \\ -x & \text{otherwise} \end{cases}
\left[\begin{array}{cc|c} 1 & 2 & 3 \\ 4 & 5 & 6 \end{array}\right]
\begin{aligned} a &= b + c \\ &= d \end{aligned}
\begin{align} x + y &= 3 \\ x - y &= 1 \end{align}
\begin{align*} f(x) &= x^2 \\ f'(x) &= 2x \end{align*}
\mathcal{L}\{f(t)\} = \int_0^\infty f(t) e^{-st}\,dt
\mathcal{O}(n \log n)
T(n) = 2T\left(\frac{n}{2}\right) + \Theta(n)
\forall \varepsilon > 0\ \exists \delta > 0 : |x - a| < \delta \implies |f(x) - L| < \varepsilon
A \cup B = \{ x \mid x \in A \lor x \in B \}
A \subseteq B \iff A \cap B = A
f : \mathbb{R} \to \mathbb{R}, \quad x \mapsto x^2
\mathbb{N} \subset \mathbb{Z} \subset \mathbb{Q} \subset \mathbb{R} \subset \mathbb{C}
\neg (p \land q) \equiv \neg p \lor \neg q
\sqrt[3]{27} = 3
\log_2 8 = 3
\ln(ab) = \ln a + \ln b
\frac{\partial f}{\partial x} = \lim_{h \to 0} \frac{f(x+h) - f(x)}{h}
\oint_C \mathbf{F} \cdot d\mathbf{r} = \iint_S (\nabla \times \mathbf{F}) \cdot d\mathbf{S}
\iiint_V (\nabla \cdot \mathbf{F})\,dV
\vec{F} = m\vec{a}
F = G \frac{m_1 m_2}{r^2}
v = v_0 + at
s = ut + \tfrac{1}{2}at^2
PV = nRT
\Delta S \geq 0
\lambda = \frac{h}{p}
\Delta x\,\Delta p \ge \frac{\hbar}{2}
\langle \psi | \hat{A} | \psi \rangle
|\psi\rangle = \alpha|0\rangle + \beta|1\rangle
H = -\sum_i p_i \log_2 p_i
D_{KL}(P \| Q) = \sum_x P(x) \log \frac{P(x)}{Q(x)}
\text{softmax}(z_i) = \frac{e^{z_i}}{\sum_j e^{z_j}}
\sigma(x) = \frac{1}{1 + e^{-x}}
\theta \leftarrow \theta - \eta \nabla_\theta J(\theta)
\hat{y} = \mathbf{w}^\top \mathbf{x} + b
\text{Attention}(Q, K, V) = \text{softmax}\left(\frac{QK^T}{\sqrt{d_k}}\right)V
\mathbf{A}\mathbf{x} = \lambda\mathbf{x}
\|x\|_2 = \sqrt{\sum_{i=1}^n x_i^2}
\lfloor x \rfloor \le x < \lfloor x \rfloor + 1
\lceil 2.1 \rceil = 3
a \equiv b \pmod{n}
\gcd(a, b) \cdot \operatorname{lcm}(a, b) = ab
\phi(n) = n \prod_{p \mid n} \left(1 - \frac{1}{p}\right)
\varphi = \frac{1 + \sqrt{5}}{2}
F_n = F_{n-1} + F_{n-2}
\overline{z} = a - bi
\widehat{ABC} = 60^\circ
\triangle ABC \sim \triangle DEF
\angle ABC = 90^\circ
AB \parallel CD, \quad AB \perp EF
\underbrace{a + a + \cdots + a}_{n \text{ times}} = na
\overbrace{x_1 + x_2}^{\text{sum}}
x_1, x_2, \ldots, x_n
1 + \frac{1}{2} + \frac{1}{4} + \dots = 2
\cfrac{1}{1 + \cfrac{1}{2 + \cfrac{1}{3}}}
\dfrac{a}{b} \ne \tfrac{a}{b}
\boxed{x = 42}
\color{red}{x} + y
\textcolor{blue}{a} = b
\xrightarrow{\text{heat}}
A \xrightarrow{f} B \xleftarrow{g} C
2\mathrm{H}_2 + \mathrm{O}_2 \to 2\mathrm{H}_2\mathrm{O}
\mathrm{d}x
\mathfrak{g}, \mathscr{F}, \mathsf{A}, \mathtt{code}
\mathbf{0} \neq 0
\mathbb{1}_{A}(x)
\boldsymbol{\beta} = (X^\top X)^{-1} X^\top y
\bar{x} = \frac{1}{n} \sum_{i=1}^{n} x_i
\tilde{f}, \dot{x}, \ddot{x}, \check{a}, \breve{a}, \acute{a}, \grave{a}
\overrightarrow{AB} = \vec{b} - \vec{a}
\stackrel{\text{def}}{=}
\overset{!}{=} \underset{x}{\arg\max}\, f(x)
\arg\min_{\theta} L(\theta)
\max_{1 \le i \le n} a_i
\sup_{x \in S} f(x), \inf_{x \in S} f(x)
\limsup_{n \to \infty} a_n = \liminf_{n \to \infty} a_n
\prod_{i=1}^{n} i = n!
\bigcup_{i \in I} A_i, \bigcap_{i \in I} A_i
\bigoplus_{i} V_i \otimes W
a \lll b \ggg c
a \ll b, a \gg b
x \approx y \simeq z \cong w \propto v
\pm, \mp, \times, \div, \cdot, \ast, \star, \circ, \bullet
\leq, \geq, \neq, \equiv, \sim, \prec, \succ
\in, \notin, \ni, \subset, \supset, \emptyset, \varnothing
\alpha\beta\gamma\delta\epsilon\zeta\eta\theta\iota\kappa\lambda\mu
\nu\xi\pi\rho\sigma\tau\upsilon\phi\chi\psi\omega
\Gamma\Delta\Theta\Lambda\Xi\Pi\Sigma\Upsilon\Phi\Psi\Omega
\aleph_0 < 2^{\aleph_0}
\therefore x = 1 \because y = 2
\Rightarrow, \Leftarrow, \Leftrightarrow, \rightarrow, \mapsto, \hookrightarrow, \uparrow
\left( \frac{a}{b} \right), \left[ \frac{a}{b} \right], \left\{ \frac{a}{b} \right\}
\left. \frac{df}{dx} \right|_{x=0}
\bigl( \Bigl( \biggl( \Biggl(
\text{速度} = \frac{\text{距離}}{\text{時間}}
\text{الطاقة} = mc^2
面积 = 长 \times 宽
50\% \text{ of } \$20
\{1, 2, 3\}
x \, y \; z \quad w \qquad v \! u
\hspace{1em} x \phantom{y} z
\begin{matrix} a & b \\ c & d \end{matrix}
\begin{Bmatrix} a \\ b \end{Bmatrix}, \begin{Vmatrix} a \\ b \end{Vmatrix}
\begin{smallmatrix} a & b \\ c & d \end{smallmatrix}
\begin{gathered} a = b \\ c = d \end{gathered}
\begin{split} a &= b \\ &= c \end{split}
\begin{array}{l|c} x & 1 \\ \hline y & 2 \end{array}
\begin{array}{c:c} a & b \\ \hdashline c & d \end{array}
\left[\begin{array}{cc:c} 1 & 2 & 3 \\ 4 & 5 & 6 \end{array}\right]
\begin{array}{rcl} a & = & b \end{array}
\substack{i < n \\ j < m}
\sum_{\substack{1 \le i \le n \\ i \text{ odd}}} a_i
\not= \not\in
\cancel{x}
\xcancel{x} + \bcancel{y}
\tag{1} a = b
\textbf{Step 1:}\ x = 2
\texttt{len}(x) = n
\textit{note}
\operatorname*{arg\,max}_x f(x)
\mathop{\mathrm{tr}}(A)
\Pr[X = k] = \binom{n}{k} p^k (1-p)^{n-k}
\iint_D f(x, y)\,dA
\int_a^b f(x)\,dx = F(b) - F(a)
\frac{dy}{dx} + P(x)y = Q(x)
y'' + \omega^2 y = 0
x^{(n)} = f(x, x', x'')
\hbar, \ell, \Re(z), \Im(z), \wp
\degree, ^\circ\mathrm{C}
\S, \P, \dagger, \ddagger
\prime, \backslash, \|, \vert, \Vert
\lbrace a \rbrace, \lbrack b \rbrack, \langle c \rangle
{n \choose k}
{a \over b}
\sqrt{1 + \sqrt{1 + \sqrt{1 + x}}}
\frac{\frac{a}{b}}{\frac{c}{d}}
a_{i_{j}}^{k^{l}}
{}_nC_r, {}^{14}_{6}\mathrm{C}
\left\lVert v \right\rVert, \lvert x \rvert
\smash{x} \root 3 \of x
\varliminf x_n \le \varlimsup x_n
\checkmark, \square, \blacksquare, \lozenge
\ce{H2O}
\mathring{A}
\dddot{x}
\underline{a}, \underbar{b}, \overline{AB}
\nearrow, \searrow, \swarrow, \nwarrow
\models, \vdash, \dashv, \top, \bot
\wedge, \vee, \oplus, \otimes, \ominus, \odot
\longrightarrow, \Longrightarrow, \longleftrightarrow, \iff
\colon, \coloneqq, :=
(a + b)^2 = a^2 + 2ab + b^2
a^3 - b^3 = (a - b)(a^2 + ab + b^2)
\frac{a}{b} \div \frac{c}{d} = \frac{a}{b} \times \frac{d}{c} = \frac{ad}{bc}
\frac{3}{4} + \frac{1}{6} = \frac{9}{12} + \frac{2}{12} = \frac{11}{12}
m = \frac{y_2 - y_1}{x_2 - x_1}
d = \sqrt{(x_2 - x_1)^2 + (y_2 - y_1)^2}
A = \pi r^2, \quad C = 2\pi r
V = \frac{4}{3}\pi r^3
A = P\left(1 + \frac{r}{n}\right)^{nt}
\Delta = b^2 - 4ac
x_{1,2} = -\frac{p}{2} \pm \sqrt{\left(\frac{p}{2}\right)^2 - q}
|x - 3| \leq 5 \iff -2 \leq x \leq 8
\log_b(xy) = \log_b x + \log_b y
\log_{10} 1000 = 3
\sin(\alpha \pm \beta) = \sin\alpha\cos\beta \pm \cos\alpha\sin\beta
\tan\theta = \frac{\sin\theta}{\cos\theta}
\cos 2x = 1 - 2\sin^2 x
\arcsin x + \arccos x = \frac{\pi}{2}
\sinh x = \frac{e^x - e^{-x}}{2}
\frac{a}{\sin A} = \frac{b}{\sin B} = \frac{c}{\sin C}
c^2 = a^2 + b^2 - 2ab\cos\gamma
S_n = \frac{a_1(1 - r^n)}{1 - r}
\sum_{k=0}^{n} \binom{n}{k} a^{n-k} b^k = (a + b)^n
\sum_{i=1}^{n} i = \frac{n(n+1)}{2}
\sum_{i=1}^n i^2 = \frac{n(n+1)(2n+1)}{6}
\frac{d}{dx}\left[\frac{f(x)}{g(x)}\right] = \frac{f'(x)g(x) - f(x)g'(x)}{g(x)^2}
\frac{d}{dx} f(g(x)) = f'(g(x)) \cdot g'(x)
\int u\,dv = uv - \int v\,du
\int \frac{1}{x}\,dx = \ln|x| + C
\int_0^1 x^2\,dx = \left[\frac{x^3}{3}\right]_0^1 = \frac{1}{3}
\int \frac{dx}{x^2 + a^2} = \frac{1}{a}\arctan\frac{x}{a} + C
f(x) = \sum_{n=0}^{\infty} \frac{f^{(n)}(a)}{n!}(x - a)^n
\lim_{n \to \infty} \left(1 + \frac{1}{n}\right)^n = e
\lim_{x \to 0^+} \ln x = -\infty
\lim_{h\to0}\frac{f(x+h)-f(x)}{h}
\nabla f = \left(\frac{\partial f}{\partial x}, \frac{\partial f}{\partial y}\right)
\nabla^2 \phi = \frac{\partial^2 \phi}{\partial x^2} + \frac{\partial^2 \phi}{\partial y^2}
\frac{\partial u}{\partial t} = \alpha \frac{\partial^2 u}{\partial x^2}
\frac{\mathrm{d}y}{\mathrm{d}x} = ky
y(t) = y_0 e^{kt}
\mathcal{F}\{f\}(\omega) = \int_{-\infty}^{\infty} f(t) e^{-i\omega t}\,\mathrm{d}t
\frac{a_0}{2} + \sum_{n=1}^\infty \left(a_n \cos\frac{n\pi x}{L} + b_n \sin\frac{n\pi x}{L}\right)
\Gamma(z) = \int_0^\infty t^{z-1} e^{-t}\,dt
\zeta(s) = \sum_{n=1}^\infty \frac{1}{n^s} = \prod_{p} \frac{1}{1 - p^{-s}}
B(x, y) = \frac{\Gamma(x)\Gamma(y)}{\Gamma(x + y)}
\oint_\gamma f(z)\,dz = 2\pi i \sum_k \operatorname{Res}(f, a_k)
f(a) = \frac{1}{2\pi i} \oint_\gamma \frac{f(z)}{z - a}\,dz
z = r(\cos\varphi + i\sin\varphi) = re^{i\varphi}
|z| = \sqrt{z\bar{z}}
A^{-1} = \frac{1}{\det A}\operatorname{adj}(A)
\det(A - \lambda I) = 0
A = U\Sigma V^T
A = QR, \quad A = LU, \quad A = PDP^{-1}
\operatorname{rank}(A) + \dim\ker(A) = n
\mathbf{u} \cdot \mathbf{v} = \|\mathbf{u}\|\|\mathbf{v}\|\cos\theta
\begin{vmatrix} \mathbf{i} & \mathbf{j} \\ a_1 & a_2 \\ b_1 & b_2 \end{vmatrix}
\begin{bmatrix} x' \\ y' \end{bmatrix} = \begin{bmatrix} c & -s \\ s & c \end{bmatrix} \vec{x}
\begin{pmatrix} a_{11} & \cdots & a_{1n} \\ \vdots & \ddots & \vdots \\ a_m & & a_n \end{pmatrix}
\left(\begin{array}{ccc} 1 & 2 & 3 \\ 4 & 5 & 6 \end{array}\right)
\left\{\begin{array}{l} x + y = 2 \\ x - y = 0 \end{array}\right.
\left\{ \begin{aligned} 2x + 3y &= 7 \\ 4x - y &= 1 \end{aligned} \right.
f(x) = \begin{cases} 0, & x < 0 \\ 1, & x \geq 0 \end{cases}
|A \cup B| = |A| + |B| - |A \cap B|
A \setminus B, \quad A \triangle B, \quad A^c, \quad A \times B
\mathcal{P}(A) = \{ S : S \subseteq A \}
\exists! x \in \mathbb{R} : x^3 = 8
\forall x \in S, \; \exists y \in T \text{ such that } y > x
p \to q \equiv \neg p \lor q
p \oplus q
\vdash \varphi \to \psi
\Gamma \vdash e : \tau
\frac{\Gamma, x : A \vdash t : B}{\Gamma \vdash \lambda x.\,t : A \to B}
\lambda x.\, x + 1
a^{p-1} \equiv 1 \pmod p
c \equiv m^e \mod n
a \bmod b
d \mid n, \quad d \nmid n
\left(\frac{a}{p}\right) = a^{(p-1)/2} \bmod p
\pi(x) \sim \frac{x}{\ln x}
n! \approx \sqrt{2\pi n}\left(\frac{n}{e}\right)^n
{n \brack k}, {n \brace k}
P(X = k) = \frac{\lambda^k e^{-\lambda}}{k!}
P(A \cap B) = P(A) \cdot P(B)
P(\overline{A}) = 1 - P(A)
\mu = np, \quad \sigma = \sqrt{np(1-p)}
z = \frac{x - \mu}{\sigma}
s^2 = \frac{1}{n-1}\sum_{i=1}^n (x_i - \bar{x})^2
r = \frac{\sum (x_i - \bar{x})(y_i - \bar{y})}{\sqrt{\sum (x_i - \bar{x})^2 \sum (y_i - \bar{y})^2}}
X \sim \mathcal{N}(\mu, \sigma^2)
\chi^2 = \sum \frac{(O_i - E_i)^2}{E_i}
\hat{\beta}_1 = \frac{S_{xy}}{S_{xx}}
H_0: \mu = \mu_0 \quad \text{vs.} \quad H_1: \mu \neq \mu_0
\bar{x} \pm z_{\alpha/2}\frac{\sigma}{\sqrt{n}}
\operatorname{Cov}(X, Y) = \mathbb{E}[XY] - \mathbb{E}[X]\mathbb{E}[Y]
X_n \xrightarrow{d} X, \quad X_n \xrightarrow{p} c
\mathbb{P}(|X| \ge t) \le \frac{\mathbb{E}|X|}{t}
I(X; Y) = H(X) - H(X \mid Y)
-\frac{1}{N}\sum_{i=1}^{N}\left[y_i\log\hat{y}_i + (1 - y_i)\log(1 - \hat{y}_i)\right]
w_{t+1} = w_t - \eta\,\frac{\hat{m}_t}{\sqrt{\hat{v}_t} + \epsilon}
\text{ReLU}(x) = \max(0, x)
\text{LayerNorm}(x) = \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} \odot \gamma + \beta
h_t = \tanh(W_{hh}h_{t-1} + W_{xh}x_t + b_h)
\frac{\partial L}{\partial W^{(l)}} = \delta^{(l)}\left(a^{(l-1)}\right)^\top
Q(s, a) \leftarrow Q(s, a) + \alpha\left[r + \gamma\max_{a'}Q(s', a') - Q(s, a)\right]
V^\pi(s) = \mathbb{E}_\pi\left[\sum_{t=0}^\infty \gamma^t r_t \,\middle|\, s_0 = s\right]
p_\theta(x_{0:T}) = p(x_T)\prod_{t=1}^T p_\theta(x_{t-1} \mid x_t)
\text{F1} = 2 \cdot \frac{\text{precision} \cdot \text{recall}}{\text{precision} + \text{recall}}
\text{Precision} = \frac{TP}{TP + FP}
O(1) \subset O(\log n) \subset O(n) \subset O(n^2) \subset O(2^n)
\Theta(n \log n), \Omega(n), o(n), \omega(1)
\text{P} \stackrel{?}{=} \text{NP}
\lceil \log_2(n + 1) \rceil
2^{10} = 1024
0.1 + 0.2 \neq 0.3
0.\overline{3} = \frac{1}{3}
1{,}000{,}000
1.5 \times 10^{-3}
6.022 \times 10^{23}\ \text{mol}^{-1}
9.81\,\mathrm{m/s^2}
c = 299\,792\,458\ \mathrm{m\,s^{-1}}
25\,^\circ\mathrm{C}
45^{\circ}
E_k = \frac{1}{2}mv^2
W = \int_{x_1}^{x_2} F\,dx
\vec{p} = m\vec{v}
\vec{F}_{\text{net}} = \sum \vec{F}_i
\tau = r \times F
T = 2\pi\sqrt{\frac{L}{g}}
F = k_e \frac{q_1 q_2}{r^2}
V = IR, \quad P = VI = I^2 R
\frac{1}{R_{\text{total}}} = \frac{1}{R_1} + \frac{1}{R_2}
\oint \mathbf{B} \cdot d\mathbf{l} = \mu_0 I_{\text{enc}}
\mathcal{E} = -\frac{d\Phi_B}{dt}
\gamma = \frac{1}{\sqrt{1 - v^2/c^2}}
\Delta t' = \gamma\,\Delta t
G_{\mu\nu} + \Lambda g_{\mu\nu} = \frac{8\pi G}{c^4} T_{\mu\nu}
ds^2 = -c^2 dt^2 + dx^2 + dy^2 + dz^2
[\hat{x}, \hat{p}] = i\hbar
\hat{H}\psi = E\psi
\langle \phi \mid \psi \rangle = 0
\hat{a}^\dagger |n\rangle = \sqrt{n+1}\,|n+1\rangle
\rho = |\psi\rangle\langle\psi|
S = k_B \ln \Omega
dU = T\,dS - P\,dV
\Delta G^\circ = -RT\ln K
\text{pH} = -\log_{10}[\text{H}^+]
K_a = \frac{[\mathrm{H^+}][\mathrm{A^-}]}{[\mathrm{HA}]}
\mathrm{CH_4 + 2\,O_2 \rightarrow CO_2 + 2\,H_2O}
\mathrm{N_2} + 3\mathrm{H_2} \rightleftharpoons 2\mathrm{NH_3}
^{235}_{92}\mathrm{U}
\text{Cost} = \$5.00 \times 3 = \$15.00
\text{Profit} = \text{Revenue} - \text{Cost}
\text{ROI} = \frac{\text{Gain} - \text{Cost}}{\text{Cost}} \times 100\%
PV = \frac{C}{(1 + r)^n}
\frac{\text{miles}}{\text{hour}}
\text{if } n \text{ is even}
\implies x = 2
\longmapsto
\hookleftarrow
\rightharpoonup
\nRightarrow
\le \ge \lt \gt
x \in [0, 1)
[a, b] \cup (c, d)
(-\infty, \infty)
\{x \in \mathbb{Z} \mid x > 0\}
\left\langle x, y \right\rangle
\left\lfloor \frac{n}{2} \right\rfloor
\left| \frac{x}{y} \right|
\Bigg[ \bigg\{ \Big( x \Big) \bigg\} \Bigg]
\underline{\text{Answer}}: \boxed{\frac{7}{2}}
\displaystyle \sum_{i=1}^n x_i
\textstyle \sum_{i=1}^n x_i
\sum\limits_{i=1}^n x_i
\sum\nolimits_{i=1}^n x_i
\int\limits_a^b f
\mathbf{v} = \langle v_1, v_2, v_3 \rangle
\hat{\imath}, \hat{\jmath}, \hat{k}
\mathrm{i} \neq \mathit{i}
\pmb{x}, \bm{x}
\vec{AB}
\overleftarrow{AB}, \overleftrightarrow{AB}
\widetilde{xyz}
\not\subset
a \mathbin{+} b \mathrel{=} c
\mathrm{Re}(z), \operatorname{Im}(z)
\sqrt{\phantom{x}}
\hphantom{abc} x
\LaTeX
\ldots, \cdots, \vdots, \ddots
a_1, \dots, a_n
x^{\prime\prime}, x''
e^{-\frac{x^2}{2}}
2^{2^{n}}
x_{\text{max}}, x_{\mathrm{min}}
\sum_{i,j} a_{ij} x_i x_j
\begin{equation} E = mc^2 \end{equation}
\begin{equation*} a = b \end{equation*}
\begin{gather} a = b \\ c = d \end{gather}
\begin{alignedat}{2} x &= 1 &\quad y &= 2 \end{alignedat}
\begin{array}{|c|c|} \hline A & B \\ \hline 1 & 0 \\ \hline \end{array}
\begin{array}{r@{}l} 12 &{}+ 3 \\ = 15 \end{array}
\begin{array}{r} 123 \\ + 456 \\ \hline 579 \end{array}
\begin{dcases} \frac{x}{2} & x > 0 \\ 0 & x \le 0 \end{dcases}
\begin{rcases} a \\ b \end{rcases} \Rightarrow c
\begin{multline} a + b \\ + c \end{multline}
\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}^{-1}
\left[ \begin{matrix} 1 & 2 \\ 3 & 4 \end{matrix} \right]
\frac{\text{成本}}{\text{数量}} = \text{单价}
\text{Größe} = 5\,\text{cm}
\text{Площадь} = a \cdot b
\text{क्षेत्रफल} = l \times b
\text{พื้นที่} = \pi r^2
\text{넓이} = \frac{1}{2}bh
αβγ + δ = ε
x² + y² = z²
∑_{i=1}^{n} i
√2 ≈ 1.414
a ≤ b ≥ c ≠ d
π ≈ 3.14159
∞, ∂, ∇, ∈, ∀, ∃
"""
DRAWN = [line for line in _LINES.strip().split("\n") if line.strip()]
