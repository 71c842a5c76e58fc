"""Word lists, all folded: stop words of eleven languages, and the English words that tell names from other words."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Left out of ENGLISH: words that often carry the question (not, all, before, over).
# Left out of the others: words that are English words, names or terms (son, car, ai, os, ci, mit, ella).
ENGLISH = _words(
    """
    a about ain also am an and any are aren as at be been being but by can cannot could couldn d did didn do does
    doesn doing don each for from had hadn has hasn have haven having he her here hers herself him himself his how
    i if in into is isn it its itself just ll m may me might mightn must mustn my myself needn of on or our ours
    ourselves re s shall shan she should shouldn so some such t than that the their theirs them themselves then
    there these they this those to too upon us ve very was wasn we were weren what when where which while who whom
    whose why will with would wouldn you your yours yourself yourselves
    """
)

GERMAN = _words(
    """
    aber alle allem aller alles als also am an ander andere anderen auch auf aus bei beim bis bist da damit dann
    dass dein deine dem denn der des dich diese diesem diesen dieser dieses dir doch dort du durch ein eine einem
    einen einer eines es etwas euch euer eure gegen habe haben hatte hatten hier hinter ich ihm ihn ihnen ihr ihre
    ihrem ihren ihrer in ins ist jede jedem jeden jeder jedes jetzt kann kein keine keinen konnen konnte mein meine
    meinem meinen meiner mich mir muss mussen nach nicht nichts noch nur ob oder ohne sehr sein seine seinem seinen
    seiner sich sie sind so solche soll sollte sondern sonst um und uns unser unsere unter vom von vor wann warum
    was weil welche welchem welchen welcher welches wenn wer werde werden wie wieder will wir wird wirst wo wollen
    worden wurde wurden zu zum zur zwar zwischen
    """
)

FRENCH = _words(
    """
    a au aussi autre aux avaient avait avec avez avoir avons ce ceci cela ces cet cette ceux chez comme d dans de
    depuis des donc dont du elle elles en entre est et etaient etait ete etre eux fait il ils je l la le les leur
    leurs lui ma mais me mes moi n ne notre nous ont ou par parce pas peut pourquoi qu quand que quel quelle
    quelles quels qui quoi sa se sera ses si sommes sont sous suis sur ta te tes toi tous tout toute toutes tres tu
    un une vos votre vous y
    """
)

SPANISH = _words(
    """
    a al algo algunos ante antes aquel aquella asi aunque como con contra cual cuando de del desde donde durante e
    el ellas ellos en entre eran eres es esa ese eso esos esta estaba estan estar estas este esto estos estoy fue
    fueron ha habia hace has hasta he la las le les lo los me mi mis mucho muy nada ni no nosotros nuestra nuestro
    o otra otro para pero poco por porque pues que quien se si siempre sobre somos soy su sus tambien te tengo ti
    tiene todo todos tu tus un una unas uno unos usted vosotros y ya yo
    """
)

ITALIAN = _words(
    """
    a abbiamo agli al alla alle allo anche avere avete aveva che chi con contro cosa cosi cui da dagli dai dall
    dalla dalle degli dei del dell della delle dello di dopo e erano essere fra gia gli ha hai hanno ho i il in la
    le lei lo loro lui ma me mi molto ne negli nei nel nell nella nelle nello noi nostra nostro o ogni perche pero
    piu poi prima qua quale quali quando quanto quella quelle quelli quello questa queste questi questo qui se sei
    sempre senza si sia siamo siete sono sta stato su sua sugli sui sul sull sulla sulle suo suoi tra tu tua tuo
    tutti tutto un una uno voi
    """
)

PORTUGUESE = _words(
    """
    a ao aos aquela aquele aquilo as ate como da de dela dele deles depois do e ela elas ele eles entre eram essa
    essas esse esses esta estao estas estava este estes estou foi foram ha isso isto ja lhe mais me mesmo meu meus
    minha minhas muito na nao nas nem no nossa nosso num numa o onde ou para pela pelas pelo pelos por porque quais
    qual quando que quem sao se sem sera seu seus so sobre somos sua suas tambem te tem tenho teu tinha tu tua um
    umas uns voce voces vos
    """
)

DUTCH = _words(
    """
    aan al alle alles als altijd andere bij daar dat de der deze dit doch doen een eens en geen had heb hebben
    heeft hem het hier hij hoe iemand iets ik in is ja je jij jou jouw jullie kan kon kunnen maar me meer mij mijn
    moet na naar niet niets nog nu of om omdat ons onze ook op over reeds te tegen toch toen uit uw veel voor waar
    waarom wanneer waren was wat we wel werd wezen wie wij wil worden wordt zal ze zei zelf zich zij zijn zo zonder
    zou
    """
)

RUSSIAN = _words(
    """
    а без более бы был была были было быть в вам вас весь во вот все всего всех вы где да даже для до его ее если
    есть еще же за здесь и из или им их к как какая какои когда кто ли либо мне может мои моя мы на над надо нам
    нас наш не него нее неи нет ни них но ну о об однако он она они оно от очень по под после потому почему при про
    с сам свои себе себя со так также такои там те тем то того тоже тои только том тот ты у уже хотя чего чеи чем
    что чтобы чье эта эти это этого этои этом этот я
    """
)

GREEK = _words(
    """
    αλλα αν απο αυτα αυτεσ αυτη αυτο αυτοι αυτοσ αυτου αυτων για γιατι δε δεν εγω εδω ειμαι ειμαστε ειναι εισαι
    εκει εκεινα εκεινη εκεινο εκεινοσ εμεισ εμενα ενα εναν ενασ ενω επι εσεισ εσυ εχει εχεισ εχουμε εχουν εχω η
    ημουν ηταν θα ισωσ κ και κατα κατι κι μα μασ με μετα μη μην μια μου να ο οι ομωσ οπωσ οταν οτι ουτε πια ποια
    ποιο ποιοσ πολυ ποσο ποτε που πρεπει πριν προσ πωσ σαν σασ σε στα στη στην στισ στο στον στου στουσ συ τα την
    τησ τι τισ το τον τοτε του τουσ των ωσ
    """
)

ARABIC = _words(
    """
    أن أنا أنت أنتم أو أي أيضا أين إذا إلى إن الآن التي الذي الذين الى اليوم بعد بعض بل به بها بين تحت تلك ثم حتى
    حيث دون ذلك على عليه عليها عن عند غير فقط فوق في فيه فيها قبل قد كان كانت كل كم كما كيف لا لقد لكن لم لماذا لن
    له لها لي ليس ليست ما ماذا متى مثل مع من منذ منه منها نحن نعم هذا هذه هل هم هن هنا هناك هو هي و ولا وهو وهي يا
    يكون
    """
)

HINDI = _words(
    """
    अगर अपना अपनी अपने अब अभी आप इन इस इसका इसकी इसके इसी इसे उन उनका उनकी उनके उन्हें उस उसका उसकी उसके उसे एक एवं
    ऐसा ऐसे और कई कब कभी कर करता करते करना करने करें कहा कहाँ का काफी कि किया किस किसी की कुछ के को कोई कौन क्या
    क्यों क्योंकि गई गया गयी चाहिए जब जहाँ जा जिस जिसे जैसा जैसे जो तक तथा तब तरह तुम तू तो था थी थे दिया द्वारा न
    नहीं ने पर पहले फिर बहुत बाद भी मुझे में मेरा मेरी मेरे मैं मैंने यदि यह यहाँ यहां या ये रहा रही रहे लिए लेकिन
    व वह वहाँ वाला वाली वाले वे सब सभी साथ से हम हमारा हमारे हमें ही हुआ हुई हुए है हैं हो होगा होता होती होते होना
    होने
    """
)

STOP_WORDS = ENGLISH | GERMAN | FRENCH | SPANISH | ITALIAN | PORTUGUESE | DUTCH | RUSSIAN | GREEK | ARABIC | HINDI

# Words that notes and questions start with and that name nobody; entities.py refuses more by their endings.
COMMON_WORDS = _words(
    """
    able above absent accept access accident account across active actual add address adjust admin adult advice
    afraid after afternoon afternoons afterwards again against age agenda agent agents ago agree ah aha ahead air
    airport aka alarm album alcohol alert alive all allergies allergy allow almost alone along already alright
    although always among amount analysis anger angry animal animals ankle anniversary another answer answers
    anxiety anybody anyone anytime anyway anywhere apart apologies app appendix apple apples apply approach apps
    area argh arm army around arrive article articles asap aside ask asks asleep assume ate attach attempt attend
    attitude aunt author auto autumn available average avoid aw awake award aware away awesome awful aww baby back
    backend background backup backups bad bag bags bah bake balance ball band bank bar base bash basic basis basket
    bath bathroom batteries battery beach beans bear beat beautiful beauty became because become bed bedroom beef
    beer before began begin behave behavior behind believe bell below bench besides best bet better between beyond
    bicycle big bike bikes bill bills bird birds birth birthday birthdays bit black blank blocker blog blood blue
    board boat body boil book books boots boss both bottle bottom bought bowl box boy boys brain branch brand bread
    break breakfast breath bridge brief bring broccoli broke brother brothers brought brown browser btw budget
    buffer bug bugs build built bunch burn bus bushes busy butter button buy buys bye cabin cable cafe cake
    calendar call caller calls came camera camp cancel cancer car card cardio cards care career careful cars case
    cases cash cast cat catch cats caught cause cell center central century certain chain chair challenge chance
    change changes chapter charge chart chat cheap check checks cheers cheese chef chemist chest chicken child
    children chip chocolate choice choose chose church city claim class classes classic clean clear click client
    clients climate climb clinic clock close clothes cloud club coach coat code coffee cold colleague colleagues
    collect college color colors colour column come comes comfort command commands commit common company compare
    complete compose computer computers concert conference config confirm congrats connect consider contact
    contacts content contents context continue contract control cook cookie cookies cool copy corner cost costs
    cough count country couple course cousin cousins cover crazy cream create credit crew crime critical cross
    crowd cry culture cup cupboard current custom customer customers customs cut cycle dad daily damage damn dance
    danger dark data database date dates daughter daughters day days dead deadline deadlines deal deals dear death
    debt decide deep default define degree delete delivery demo dentist deploy depth describe design desk despite
    dessert detail details develop developer developers device diary diet difference different difficult dig dinner
    dinners direct directory dirt discover discuss disease dish dishes disk distance divide docs doctor doctors dog
    dogs done door doors double doubt down draft drag drank draw drawer dream dreams dress drink drinks drive
    driver drivers drop drove drugs dry due duh dull dump dust duty ear early ears earth ease east easy eat eats
    edge edit editor editors effect effort egg eggs eh eight either elbow electric eleven else elsewhere email
    emails embed emergency employee employees empty encourage end ends energy engine engineer engineers enjoy
    enough ensure enter entire entrance entry env episode equal er error errors escape essay estimate eta etc even
    evenings event events eventual ever every everybody everyone everywhere evidence exact exam example examples
    exams except excuse execute exercise exercises exit expect expense expenses experience expert explain explore
    export express extra eye eyes face fact factor fail fails failure fair faith fall false families famous fan faq
    far farm fast fat father fathers fault favor favorite favourite fear feature features fed fee feedback feel
    feels fees feet fell fellow felt fence fetch fetches fever few fewer field fight figure file files fill film
    films filter final finance find finds fine finger fingers finish fire first fish fit five fix fixes fixme flag
    flat flew flight flights floor flour flow flower flowers flu fly focus folder folders folks follow food foods
    foot football force forest forever forget forgot fork form format forms forward fought found four fourth frame
    free freedom freezer fresh fridge friend friends friendship front froze fruit fruits full fun fund funny
    furniture further future fyi gain game games garage garbage garden gardens gas gate gather gave gear gee
    general generate get gets gift gifts girl girlfriend girls give gives glad glass glasses go goal goals goes
    gold golf gone gonna good goodbye goods gosh got gotta grab grade grammar grandfather grandma grandmother
    grandpa grandparents grant grass grateful gray great green greetings grew grey groceries grocery ground group
    groups grow growth guess guest guests guide guitar guy guys gym habit habits hack haha hair haircut half hall
    hand handle hands hang happen happens happy hard hardware hat hate head headache heads health hear heard heart
    heat heavy hehe height held hello help helps hence hey hi hid hide high highlight highlights hike hint hints
    history hit hits hm hmm hold holiday holidays home homes homework honest honey hook hooray hope hopes horse
    hospital host hot hotel hotels hour hours house household houses however huge huh human humans hung hungry
    hurry hurt husband hypothesis ice idea ideas identify ignore ill image imagine imo impact import important
    improve inbox include includes income incorrect increase index individual industry info input insert inside
    insight insights inspect install instance instead insurance interest internal international internet interview
    interviews invite invoice invoices iron island issue issues item items jacket jam jar job jobs join joke jokes
    journal journey joy judge juice jump junior junk karma keen keep keeps kept kettle key keyboard keys kick kid
    kids kill kind kinds king kitchen knee knees knew knife know knowledge knows label lack lady laid lamp land
    language languages laptop large last late later latest laugh launch laundry law lawn lawyer lay layer layout
    lazy lead leader leaders leads learn learnings lease least leather leave lecture lectures led left leg legs
    lemme lemon lemons lend length lens lent less lesson lessons let lets letter letters level library license lid
    lie life lift light lights like likes limit line lines link links list listen lists lit little live lives load
    loan local lock log logic login logs lol long look looks loop lose loss lost lots loud love loves low luck
    lucky luggage lunch lunches lung machine machines made mail main make makes male man manage manager managers
    manual many map maps market markets marriage massage master match matches material math matter matters maximum
    maybe meal meals mean means meant meanwhile measure meat media medicine medium meet meets meh member members
    memo memories memory men mental menu merge mess message messages met metal method methods middle midnight
    mileage milk mind mindset mine mini minimum minor minus minute minutes mirror miss mistake mistakes mix mm mmm
    mobile mode model models modern modify module mom money monitor month months mood moon morale more moreover
    mornings mortgage most mother mothers motor mountain mountains mouse mouth move moves movie movies much mud
    multiple mum muscle museum mushrooms music mustard mutual nah nail name names narrow nature nb near nearby neat
    neck need needs neighbor neighbors neighbour neighbours neither nerve network never nevertheless new news
    newspaper next nice night nights nine no nobody noise none nope nor normal north nose not note notebook
    notebooks notes notice notices novel novels now nowadays nowhere number numbers nurse nuts object obvious odd
    odds off offer offers office often oh oil ok okay old older olives omelette omg once one ones oneself onion
    onions online only ooh oops open opens opinion opinions oppose orange oranges order orders organic original
    other others otherwise ouch ought out outcome outfit output outside oven over overall overheard overnight
    overview own owner pace pack package packages page pages paid pain paint painter pair pan pants paper papers
    parent parents park part partner partners parts party pass passport password passwords past pasta paste pasture
    patch path patience patient patients pattern patterns pause pay pays peace peanut peanuts pen pencil people
    pepper percent perfect perform performance perhaps period person personal pet pets pharmacy phase phew phone
    phones photo photos phrase physical physics piano pick picks picnic picture pictures piece pieces pill pillow
    pills pin pipe pizza place places plan plane planet planner plans plant plants plastic plate play player
    players playlist plays please pleasure plenty plot plumber plus pm pocket podcast podcasts poem poems poetry
    point points police policy politics pool poor pop popular pork port portfolio positive possible post posts pot
    potato potatoes pour power practice pray prayer prefer prep prepare present presents press pressure pretty
    prevent previous price prices pride primary print printer prior priorities privacy private prize pro probable
    problem problems process product products profile profit program programs progress project projects promise
    proof proper property props pros protect protein proud prove provide ps public pull pump punch purchase pure
    purple purpose push put puts puzzle quarter queries query quest queue quick quiet quit quite quote quotes race
    rack radio rain raise ran random rang range rare rate rates rather raw reach react read reader readers reads
    ready real realize reason reasons recall recap receipt receipts recent recipe recipes recommend record records
    recovery recycle red redo reduce refactor refer reference reflect refund regard regardless register regret
    regular relationship relationships relax release relief remain remember remind reminder reminders remote remove
    renew rent repair repeat replace replies reply report reports repository request requests require requires
    reread rescue research reserve reset resolve resource resources respect respond response rest restart
    restaurant restaurants restore result results resume retro retrospective return returns reuse reveal revenue
    review reviews revise reward rewrite rice rich ride right ring rise risk risks road roads rock rode role roles
    roof room rooms root rope rough round route routine row rows rub rug rule rules rumor run runner runs rush sad
    safe safety said salad salary sale sales salmon salt same sandwich sang sat sauce sauna save saw say says scale
    scan schedule schedules school schools science scope score screen screw script scripts sea seal search season
    seat second secret secrets see seed seek seems seldom select self sell send senior sense sent separate series
    serious server servers service services set sets settings setup seven several sex shade shame shape share
    shares sharp sheet sheets shelf shell shh ship shirt shirts shock shoe shoes shook shoot shop shops short
    shorts shot shoulder shout show shower shows shut siblings sick side sigh sign signal silence silly silver
    similar simple since sing singer single sink sir sister sisters sit site six size sketch ski skill skills skin
    skip sky sleep slept slide slides slight slow small smart smell smile smoke smooth snack snacks snow soap
    soccer social socks sofa soft software soil sold solve somebody somehow someone sometime sometimes somewhere
    son song songs sons soon sore sorry sort soul sound sounds soup source sources south space spare speak speaker
    speakers special specific specify speech speed spell spend spent spice spicy spirit split spoke sport sports
    spot spouse spread sprint square squash stack staff stage stairs stand standard standup star stars start
    starter starts state states stats status stay steak step steps stick still stock stole stomach stone stood stop
    stops storage store stores stories storm story stove straight strange strategies strategy street strength
    stress stretch strike strings strong structure stuck student students studio study stuff stupid style subject
    submit subscribe success successful sugar suggest suit summary summer sun sunlight sunset sunshine super supper
    supplies support suppose sure surface surgery surprise survey sushi swam sweet swim switch sword swore symptoms
    syntax system systems ta table tables tag tags tail take takeaway takeaways takes tale talent talk talks tall
    tank tap tape task tasks taste taught tax taxes taxi tbd tea teach teacher teachers team teams tear tech
    technical technique technology teen teeth tell temper temperature temple ten tennis tent term terms terrible
    test tests text texts thank thanks theater theatre theme theory therapist therapy therefore thing things think
    third thirty thought thoughts thousand thread threat three threw throat through throughout throw thumb thus
    ticket tickets tidy tie ties tight till time timeline timer times tip tips tire tires title tldr toast today
    todo toe together toilet told tomato tomatoes tomorrow tone tongue tonight tons took tool tools tooth top topic
    topics tore total touch tough tour toward towards towel tower town toy toys track tracks trade traffic trail
    train trainer trains transfer transport trap trash travel treat tree trees trial trick tricks tried trip trips
    trouble truck true trust truth try tune turn turns tutor tutorial tutorials tv twelve twenty twice twins twist
    two type types typical ugh ugly uh ultimate um umbrella uncle under understand understood unfortunate unique
    unit units universe unless unlike unlock until unusual up update updates upgrade upload upper urgent usage use
    useful user users uses usual vaccine valid valley value values van variable variables variety various vegetable
    vegetables vehicle venue vet via victory video videos view village vine vinegar virus visit visitor visitors
    visits visual vitamin voice volume vote vs wage wait waiter wake walk walks wall wallet walls wanna want wants
    war wardrobe warm warn wash waste watch water wave wax way ways weak wealth wear weather web website websites
    week weekend weekends weeks weight weird welcome well went west wet whale whatever wheel whenever whereas
    wherever whether whichever white whoa whoever whole wide wife wifi wild win wind window windows wine wings
    winner winter wip wipe wire wise wish within without woah woke wolf woman women won wonder woo wood woohoo word
    words wore work worker workers workflow workout workouts works workshop world worry worse worst worth wow wrap
    wrist write writer writes wrong wrote xxx yard yarn yay yeah year years yellow yep yes yesterday yet yikes yoga
    yogurt young younger youth yum yup zero zone zoo
    """
)

CALENDAR = _words(
    """
    january february march april may june july august september october november december feb mar apr jun jul aug
    sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs
    fri sat sun mondays tuesdays wednesdays thursdays fridays saturdays sundays montag dienstag mittwoch donnerstag
    freitag samstag sonntag januar februar marz juni oktober dezember
    """
)

# Before a name, and with a point that ends no sentence.
HONORIFICS = _words(
    """
    capt col dr frau gen herr hon jr lt mlle mme mr mrs ms mx prof rev saint sgt sir sr sra st
    """
)

# A point after these ends no sentence.
ABBREVIATIONS = HONORIFICS | _words("vs etc e.g i.e no inc ltd co approx dept")

# Inside a name: Bank of England, Ludwig van Beethoven.
JOINERS = _words("of de van von der den the da di del della la le du dos das ten al bin ibn el y")

# Common words that are also the first half of names: New York, Los Angeles.
HALF_NAMES = _words(
    """
    big black blue central east el golden great green la lake las le little los lower mount new north old red royal
    saint south united upper west white world
    """
)

# Names in spite of their ending.
UNCOMMON = _words(
    """
    ahmed alfred beijing beverly billy boeing browning deming emily fleming harding holly irving italy jared kelly
    kimberly lightning manning mohammed molly muhammed nanjing polly reed sally sterling wilfred winifred
    """
)

# Of a company or country, which is the name.
ROLES = _words(
    """
    author ceo cfo chair chairman chief coo cto dean director duke editor founder governor head king mayor member
    minister owner president prince princess professor queen secretary vp
    """
)

# What follows a subject: with these, or a word in -s or -ed, a sentence's first word is taken for a name.
AUXILIARIES = _words(
    """
    ate became began bought broke brought built came can caught chose could couldn cut did didn does doesn drank
    drove fell felt flew forgot found gave goes got grew had hadn has hasn heard held hit hurt is isn kept knew led
    left lent let lived lives lost made meant met might moved must paid put quit ran read said sang saw says sent
    set should showed shut slept sold spent spoke stood swore taught thought threw told took understood was wasn
    went will woke won wore would wouldn wrote
    """
)

# Stand between a subject and its verb.
ADVERBS = _words(
    """
    actually already also always apparently currently even finally just never now often once probably really
    recently sometimes still then usually
    """
)
