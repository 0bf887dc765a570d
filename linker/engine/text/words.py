"""Word lists by language: function words, and link texts that say nothing about the page they lead to.

Written as people write them; linker.engine.text.generic folds them. Languages without a list are judged by all of them.
"""

from __future__ import annotations

STOP_WORDS: dict[str, str] = {
    "en": """a an the this that these those and or but nor so if then else than as at by for from in into of off on
        onto out over per to toward towards under until up upon via with within without about above across after
        against along among around before behind below beneath beside between beyond down during except inside near
        outside since through throughout i me my we us our ours you your yours he him his she her hers it its they
        them their theirs who whom whose which what when where why how is are was were be been being am do does did
        done has have had having can could may might must shall should will would not no yes also again all any both
        each either every few most neither none other others own same some such too very just only once there here
        now while because although though however yet still ever never more less much many get got let""",
    "fr": """le la les l un une des du de d au aux ce cet cette ces ça cela ceci et ou où mais donc or ni car si que qu
        qui quoi dont quand comment pourquoi quel quelle quels quelles à dans par pour en vers avec sans sous sur entre
        chez depuis pendant avant après contre malgré selon je tu il elle on nous vous ils elles me te se moi toi lui
        leur leurs eux mon ma mes ton ta tes son sa ses notre nos votre vos y est sont était étaient être été suis es
        sommes êtes sera seront ai as a avons avez ont avoir eu fait faire peut peuvent doit doivent ne pas plus moins
        très trop peu aussi tout toute tous toutes même mêmes autre autres chaque quelques plusieurs non oui ici là
        alors ainsi comme encore déjà jamais toujours""",
    "de": """der die das den dem des ein eine einer eines einem einen kein keine keiner keinen und oder aber denn
        sondern weil dass ob wenn als wie wer was wo wann warum welche welcher welches in im ins an am ans auf aus bei
        beim mit nach von vom vor zu zum zur über unter um für durch gegen ohne bis seit während wegen zwischen hinter
        neben ich du er sie es wir ihr mich dich sich uns euch mir dir ihm ihnen mein meine dein deine sein seine ihre
        unser unsere euer eure ist sind war waren bin bist sei wird werden wurde wurden haben hat hatte hatten kann
        können muss müssen soll sollen darf dürfen will wollen nicht nur auch noch schon sehr mehr weniger alle alles
        jeder jede jedes diese dieser dieses diesen man so da dort hier dann doch ja nein immer nie wieder""",
    "es": """el la los las lo un una unos unas al del de a ante bajo con contra desde durante en entre hacia hasta
        mediante para por según sin sobre tras y e o u ni pero sino porque que qué quien quién quienes cual cuál cuales
        cuando cuándo como cómo donde dónde cuyo si no sí yo tú él ella nosotros vosotros ellos ellas usted ustedes me
        te se nos os le les mi mis tu tus su sus nuestro nuestra nuestros nuestras vuestro este esta estos estas ese
        esa esos esas aquel aquella esto eso es son era eran ser sido fue fueron está están estar ha han haber había
        hay hace hacer puede pueden debe deben más menos muy mucho muchos poco todo toda todos todas otro otra otros
        otras mismo misma cada algún alguna algunos también ya aquí allí así entonces nunca siempre""",
    "it": """il lo la i gli le l un uno una di a da in con su per tra fra del dello della dei degli delle al allo alla
        ai agli alle dal dallo dalla dai dagli dalle nel nello nella nei negli nelle sul sullo sulla sui sugli sulle e
        ed o od ma se che chi cui quale quali quando come dove perché anche non né sì no io tu lui lei noi voi loro mi
        ti si ci vi ne mio mia miei mie tuo tua suo sua suoi sue nostro nostra vostro vostra questo questa questi
        queste quello quella quelli quelle è sono era erano essere stato stata ha hanno ho avere aveva fa fare può
        possono deve devono più meno molto molti poco tutto tutta tutti tutte altro altra altri altre stesso ogni
        qualche qui qua lì là già ancora mai sempre così allora""",
    "nl": """de het een deze dit die dat en of maar want dus omdat als dan toen wanneer hoe wat wie waar waarom welke
        in op aan bij met van voor door over onder tot uit naar om te ten ter tussen tegen zonder sinds tijdens
        binnen buiten achter na ik jij je u hij zij ze wij we jullie mij me jou hem haar ons onze hun hen mijn jouw
        uw zijn is was waren ben bent wordt worden werd werden heeft hebben had hadden kan kunnen moet moeten mag
        mogen zal zullen wil willen niet geen ook nog al wel maar zeer meer minder veel weinig alle alles elk elke
        ieder iedere ander andere er hier daar nu altijd nooit zo""",
    "pt": """o a os as um uma uns umas de do da dos das em no na nos nas num numa por pelo pela pelos pelas para com
        sem sob sobre entre até desde após ante contra durante e ou mas nem se que quem qual quais quando como onde
        porque porquê cujo não sim eu tu ele ela nós vós eles elas você vocês me te lhe lhes meu minha meus minhas teu
        tua seu sua seus suas nosso nossa nossos nossas este esta estes estas esse essa esses essas aquele aquela isto
        isso aquilo é são era eram ser foi foram está estão estar tem têm ter tinha há faz fazer pode podem deve devem
        mais menos muito muitos pouco todo toda todos todas outro outra outros outras mesmo mesma cada algum alguma
        também já aqui ali lá assim então nunca sempre ao aos à às""",
}

GENERIC_PHRASES: dict[str, str] = {
    "en": """click here; click; here; read more; read on; more; more info; more information; more details; learn more;
        find out more; see more; show more; view more; view all; see all; show all; see here; this page; this article;
        this post; this link; this; link; links; page; article; post; website; web site; site; home; home page;
        homepage; start; start page; index; main; main page; menu; search; login; log in; sign in; sign up; register;
        subscribe; contact; contact us; about; about us; continue; continue reading; full article; read article;
        read the article; read full article; full story; details; info; information; next; next page; previous;
        previous page; prev; back; go; go back; back to top; top; download; downloads; view; visit; visit site;
        visit website; open; see; check it out; check this out; shop now; buy; buy now; order now; add to cart;
        overview; untitled; untitled page; untitled document; new page; no title; document; default; welcome; loading;
        please wait; just a moment; page not found; not found; error; 404 not found; share; comments; tags; category;
        categories; archive; archives; resources; products; product; blog; news; image; photo; video; introduction;
        table of contents; contents; description; summary; conclusion; see also; related; related articles;
        related posts; related pages; related products; privacy policy; cookie policy; terms; terms of use""",
    "fr": """cliquez ici; cliquer ici; clic; ici; lire la suite; lire plus; la suite; suite; en savoir plus;
        savoir plus; voir plus; voir tout; voir; plus; plus d'infos; plus d'informations; plus de détails; cette page;
        cet article; ce lien; lien; liens; page; article; site; site web; accueil; page d'accueil; début; menu;
        rechercher; recherche; connexion; se connecter; s'inscrire; inscription; contact; contactez-nous; à propos;
        qui sommes-nous; continuer; continuer la lecture; lire l'article; détails; infos; information; informations;
        suivant; page suivante; précédent; page précédente; retour; retour en haut; haut de page; télécharger;
        téléchargement; découvrir; découvrez; visiter; acheter; commander; ajouter au panier; sans titre; bienvenue;
        page introuvable; page non trouvée; erreur; partager; commentaires; catégorie; catégories; archives; actualités;
        produits; sommaire; introduction; conclusion; voir aussi; description; mentions légales""",
    "de": """hier klicken; klicken sie hier; klick hier; klicke hier; hier; weiterlesen; mehr lesen; mehr; mehr infos;
        mehr informationen; mehr erfahren; mehr dazu; weitere informationen; weiter; zum artikel; artikel lesen;
        alle anzeigen; alle ansehen; mehr anzeigen; mehr sehen; diese seite; dieser artikel; dieser link; link; links;
        seite; artikel; beitrag; webseite; website; startseite; start; home; menü; suche; suchen; anmelden; login;
        registrieren; kontakt; über uns; details; info; infos; information; informationen; nächste; nächste seite;
        vorherige; vorherige seite; zurück; nach oben; zum seitenanfang; herunterladen; download; ansehen; anzeigen;
        besuchen; kaufen; jetzt kaufen; in den warenkorb; bestellen; ohne titel; unbenannt; willkommen;
        seite nicht gefunden; fehler; teilen; kommentare; kategorie; kategorien; archiv; aktuelles; neuigkeiten;
        produkte; produkt; inhalt; inhaltsverzeichnis; übersicht; einleitung; fazit; siehe auch; beschreibung;
        impressum; datenschutz""",
    "es": """haga clic aquí; haz clic aquí; clic aquí; clic; pulse aquí; pincha aquí; aquí; leer más; seguir leyendo;
        más; más información; más info; más detalles; saber más; conocer más; ver más; ver todo; ver todos; ver;
        esta página; este artículo; este enlace; enlace; enlaces; página; artículo; sitio; sitio web; inicio;
        página de inicio; página principal; portada; menú; buscar; búsqueda; iniciar sesión; acceder; registrarse;
        contacto; contáctenos; sobre nosotros; quiénes somos; acerca de; continuar; detalles; información; siguiente;
        página siguiente; anterior; página anterior; volver; volver arriba; arriba; descargar; descargas; visitar;
        comprar; comprar ahora; añadir al carrito; sin título; bienvenido; bienvenidos; página no encontrada; error;
        compartir; comentarios; categoría; categorías; archivo; noticias; productos; producto; índice; introducción;
        conclusión; ver también; descripción; aviso legal""",
    "it": """clicca qui; cliccare qui; fai clic qui; clic; qui; leggi tutto; leggi di più; leggi; continua a leggere;
        continua; di più; più; più informazioni; maggiori informazioni; scopri di più; scopri; per saperne di più;
        vedi tutto; vedi tutti; vedi; mostra di più; questa pagina; questo articolo; questo link; link; pagina;
        articolo; sito; sito web; home; home page; pagina iniziale; inizio; menu; cerca; ricerca; accedi; login;
        registrati; contatti; contattaci; chi siamo; dettagli; info; informazioni; successivo; avanti; pagina
        successiva; precedente; indietro; pagina precedente; torna su; torna indietro; scarica; download; visita;
        acquista; compra; compra ora; aggiungi al carrello; senza titolo; benvenuto; benvenuti; pagina non trovata;
        errore; condividi; commenti; categoria; categorie; archivio; notizie; prodotti; prodotto; indice;
        introduzione; conclusione; vedi anche; descrizione; note legali""",
    "nl": """klik hier; hier; lees meer; lees verder; verder lezen; meer; meer info; meer informatie; meer weten;
        meer lezen; bekijk; bekijk meer; bekijk alles; toon alles; deze pagina; dit artikel; deze link; link; links;
        pagina; artikel; website; site; home; homepage; startpagina; begin; menu; zoeken; inloggen; aanmelden;
        registreren; contact; neem contact op; over ons; details; info; informatie; volgende; volgende pagina; vorige;
        vorige pagina; terug; terug naar boven; naar boven; downloaden; download; bezoek; kopen; koop nu; bestellen;
        in winkelwagen; zonder titel; naamloos; welkom; pagina niet gevonden; fout; delen; reacties; categorie;
        categorieën; archief; nieuws; producten; product; inhoud; inhoudsopgave; overzicht; inleiding; conclusie;
        zie ook; beschrijving; privacybeleid""",
    "pt": """clique aqui; clica aqui; aqui; leia mais; ler mais; saiba mais; saber mais; continuar lendo;
        continuar a ler; continue lendo; mais; mais informações; mais detalhes; ver mais; ver tudo; ver todos; ver;
        esta página; este artigo; este link; link; links; página; artigo; site; website; início; página inicial; home;
        menu; pesquisar; pesquisa; buscar; busca; entrar; login; registrar; cadastre-se; contato; contacto;
        fale conosco; contacte-nos; sobre; sobre nós; quem somos; continuar; detalhes; informação; informações;
        próximo; próxima; próxima página; anterior; página anterior; voltar; voltar ao topo; topo; baixar; descarregar;
        download; visitar; comprar; comprar agora; adicionar ao carrinho; sem título; bem-vindo; página não encontrada;
        erro; compartilhar; partilhar; comentários; categoria; categorias; arquivo; notícias; produtos; produto;
        índice; introdução; conclusão; veja também; ver também; descrição; aviso legal""",
}

# Words that point at a page from where they stand and mean another one elsewhere: what it is, and which one it is.
POINTING_WORDS: dict[str, str] = {
    "en": """post posts article articles entry entries blog page pages guide guides piece story stories release releases
        version versions announcement announcements announced news update updates report reports reported newsletter
        website site link links list lists section sections part parts chapter chapters episode episodes series
        example examples details information info documentation docs wiki screenshot screenshots video videos
        interview interviews tutorial tutorials introduction overview summary last latest recent recently previous
        previously earlier next new newest first second third upcoming current original official full complete
        following preceding above mentioned wrote written published read see said here there the this that our my in
        use uses case cases feature features benefit benefits getting started""",
    "fr": """article articles billet billets publication publications page pages guide guides annonce annonces annoncé
        annoncée version versions communiqué actualité actualités nouvelle nouvelles site lien liens liste partie
        section chapitre épisode série exemple exemples détails information informations documentation vidéo entretien
        dernier dernière derniers dernières récent récente précédent précédente premier première prochain prochaine
        nouveau original officiel officielle complet complète suivant suivante lire voir dit écrit publié publiée cas
        usage usages utilisation fonctionnalités avantages""",
    "de": """beitrag beiträge artikel eintrag blog blogbeitrag seite seiten anleitung anleitungen ankündigung
        ankündigungen angekündigt veröffentlichung veröffentlichungen veröffentlicht freigabe version versionen meldung
        meldungen nachricht nachrichten neuigkeiten bericht berichte berichtet berichteten newsletter webseite website
        link links liste abschnitt teil teile kapitel folge serie beispiel beispiele details information informationen
        dokumentation wiki bildschirmfotos video videos interview interviews einführung übersicht letzter letzte letzten
        letztes neueste neuesten neuester neuestes aktuelle aktuellen aktueller vorherige vorherigen vorige vorigen
        frühere früheren nächste nächsten neue neuen erste ersten zweite zweiten offizielle offiziellen vollständige
        vollständigen folgende folgenden oben genannt erwähnt geschrieben gesagt lesen siehe anwendungsfall
        anwendungsfälle anwendungsfällen funktionen vorteile schritte""",
    "es": """artículo artículos entrada entradas publicación publicaciones página páginas guía guías anuncio anuncios
        anunciado versión versiones lanzamiento noticia noticias informe informes sitio enlace enlaces lista parte
        sección capítulo episodio serie ejemplo ejemplos detalles información documentación vídeo entrevista último
        última últimos últimas reciente recientes anterior anteriores primero primera próximo próxima nuevo nueva
        original oficial completo completa siguiente leer ver dicho escrito publicado publicada caso casos uso usos
        funciones ventajas""",
    "it": """articolo articoli post pubblicazione pubblicazioni pagina pagine guida guide annuncio annunci annunciato
        versione versioni rilascio notizia notizie rapporto sito link elenco parte sezione capitolo episodio serie
        esempio esempi dettagli informazioni documentazione video intervista ultimo ultima ultimi ultime recente recenti
        precedente precedenti primo prima prossimo prossima nuovo nuova originale ufficiale completo completa seguente
        leggere vedere detto scritto pubblicato pubblicata""",
    "nl": """bericht berichten artikel artikelen blog pagina pagina's handleiding handleidingen aankondiging
        aangekondigd uitgave versie versies nieuws verslag site link links lijst deel sectie hoofdstuk aflevering serie
        voorbeeld voorbeelden details informatie documentatie video interview laatste nieuwste recente vorige eerdere
        volgende nieuwe eerste tweede officiële volledige genoemd geschreven gepubliceerd lezen zien""",
    "pt": """artigo artigos postagem postagens publicação publicações página páginas guia guias anúncio anúncios
        anunciado versão versões lançamento notícia notícias relatório site link links lista parte seção secção capítulo
        episódio série exemplo exemplos detalhes informação informações documentação vídeo entrevista último última
        últimos últimas recente recentes anterior anteriores primeiro primeira próximo próxima novo nova original
        oficial completo completa seguinte ler ver dito escrito publicado publicada""",
}

# Words that announce what a title is about, before it and after it, and articles.
LEADING_WORDS: dict[str, str] = {
    "en": "a an the our your my introducing announcing presenting celebrating meet about on welcome to using "
    "understanding new",
    "de": "der die das den dem ein eine einen unser unsere ihr ihre über neu neue neues",
    "fr": "le la les l un une des notre nos votre vos présentation de du sur nouveau nouvelle",
    "es": "el la los las un una nuestro nuestra nuestros nuestras presentamos presentación sobre nuevo nueva",
    "it": "il lo la i gli le un uno una nostro nostra presentazione su nuovo nuova",
    "nl": "de het een onze ons over nieuw nieuwe",
    "pt": "o a os as um uma nosso nossa apresentando sobre novo nova",
}
TRAILING_WORDS: dict[str, str] = {
    "en": "released announced available published launched is are now out",
    "de": "erschienen veröffentlicht freigegeben verfügbar herunterladen angekündigt ist sind jetzt nun",
    "fr": "publié publiée disponible annoncé annoncée est sont",
    "es": "publicado publicada disponible anunciado anunciada está es",
    "it": "pubblicato pubblicata disponibile annunciato annunciata è",
    "nl": "verschenen uitgebracht beschikbaar aangekondigd is zijn nu",
    "pt": "publicado publicada disponível anunciado anunciada está é",
}
# Verbs that make a sentence of the words around them, as nouns and adjectives never look.
FINITE_VERBS: dict[str, str] = {
    "en": "is are was were isn aren wasn weren does did don doesn didn has had hasn hadn cannot could would should",
    "de": "ist sind wird wurde wurden hat hatte hatten kann konnte muss musste soll sollte darf durfte",
    "fr": "sont était étaient sera seront ont avait avaient peut peuvent doit doivent",
    "es": "es eran fueron están han había puede pueden debe deben",
    "it": "sono erano furono hanno aveva possono deve devono",
    "nl": "is werd wordt heeft moet zal",
    "pt": "eram foram estão têm tinha pode podem deve devem",
}
AND: dict[str, str] = {"en": "and", "de": "und", "fr": "et", "es": "y", "it": "e", "nl": "en", "pt": "e"}
# From two on.
NUMBER_WORDS: dict[str, str] = {
    "en": "two three four five six seven eight nine ten eleven twelve",
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "it": "due tre quattro cinque sei sette otto nove dieci undici dodici",
    "nl": "twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "pt": "dois três quatro cinco seis sete oito nove dez onze doze",
}

# The names of each month, from January on.
MONTHS: tuple[str, ...] = (
    "january jan januar janvier enero gennaio januari janeiro",
    "february feb februar février febrero febbraio februari fevereiro",
    "march mar märz mars marzo maart março",
    "april apr avril abril aprile",
    "may mai mayo maggio mei maio",
    "june jun juni juin junio giugno junho",
    "july jul juli juillet julio luglio julho",
    "august aug août agosto augustus",
    "september sep sept septembre septiembre settembre setembro",
    "october oct oktober okt octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre diciembre dicembre dezembro",
)

# Words before a full stop that does not end a sentence. Single letters (initials, "U.S.", "z. B.") never end one.
ABBREVIATIONS = """mr mrs ms dr prof st sr jr sra no nos nr vs etc approx fig figs eq vol ch sec inc ltd corp co dept
    gov e.g i.e cf al ca resp bzw usw evtl ggf inkl zzgl str mme mlle env av art bd ex p.ex pp ed eds núm pág tel ej ee
    dott sig sigg ecc pag dhr mevr drs bijv blz enz exmo dra jan feb mar apr jun jul aug sep sept oct nov dec"""

# Words that, beside a site's name, ask for a place of the site and for no page about something ("acme login").
SITE_PLACES = """login log in sign signin signup up account my contact contacts us phone number email address customer
    service services support help desk hotline website web site homepage home page official online shop store stores app
    near me opening hours jobs careers connexion compte officiel boutique magasin anmelden konto kontakt kundenservice
    webseite startseite laden filiale iniciar sesion cuenta contacto tienda sitio oficial accedi contatti negozio sito
    ufficiale inloggen winkel"""

# Words that say which of several something is.
ORDINAL_WORDS: dict[str, str] = {
    "en": "first second third fourth fifth sixth seventh eighth ninth tenth final last",
    "de": "erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte letzte",
    "fr": "premier première deuxième second seconde troisième quatrième cinquième sixième dernier dernière",
    "es": "primer primero primera segundo segunda tercer tercero tercera cuarto cuarta quinto quinta último última",
    "it": "primo prima secondo seconda terzo terza quarto quarta quinto quinta ultimo ultima",
    "nl": "eerste tweede derde vierde vijfde zesde zevende laatste",
    "pt": "primeiro primeira segundo segunda terceiro terceira quarto quarta quinto quinta último última",
}
